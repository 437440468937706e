import { RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import {
  DecodedBlocks,
  decodedBlocks,
  type DecodedMemory,
} from "../../io/block_cache/decoded_blocks.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { RowsTree } from "../samples/rows_tree.ts";
import type { Field } from "../samples/samples.ts";
import {
  type Extent,
  type NodeId,
  placeBytes,
  type Tree,
  type TreeHandle,
} from "../tree.ts";
import { ShardTable } from "../samples/shard_table.ts";
import { CellFiles } from "./cell_files.ts";
import { type RowFile, type RowFormat, rowsOf } from "./row_format.ts";
import { SharedCells } from "./shared_cells.ts";

export interface RowTreeOptions {
  /** Names of the files' directories; `undefined` for a single file, whose rows are in the root. */
  readonly shards: readonly string[] | undefined;
  readonly checkData: boolean;
  /** Whether other threads can open the files. */
  readonly isReached: boolean;
}

/** Data from which another thread recreates a tree. */
interface Seed<F extends RowFile> extends RowTreeOptions {
  readonly files: readonly F[];
  readonly blocks: DecodedMemory;
  readonly owner: number;
}

/** Rows as directories, named by their index in the file, with cells as files. Several files are directories. */
export class RowTree<F extends RowFile> extends RowsTree<F> {
  readonly sources: readonly ByteSource[];
  readonly #options: RowTreeOptions;
  readonly #format: RowFormat<F>;
  readonly #cells: CellFiles<F>;
  /** Id of the files as an owner of shared blocks. */
  #owner: number | undefined;

  /**
   * @param sources Empty in a thread that did not open them.
   * @param shared Cells that such a thread shares with others.
   */
  constructor(
    format: RowFormat<F>,
    sources: readonly ByteSource[],
    table: ShardTable<F>,
    options: RowTreeOptions,
    shared?: SharedCells,
  ) {
    super(table, options.shards, ({ columns }) => columns.length);
    this.sources = sources;
    this.#format = format;
    this.#options = options;
    const opened = sources.length > 0 ? sources : undefined;
    const { checkData } = options;
    this.#cells = new CellFiles(
      format,
      table.shards,
      checkData,
      opened,
      shared,
    );
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterField(node)) return false;
    placeBytes(this.#bytes(), into);
    return true;
  }

  share(): TreeHandle {
    if (!this.#options.isReached) {
      throw new RecordfsError(
        "unsupported",
        "Cannot share rows with other threads: they were opened from a storage of this " +
          "thread. Serve rows from the local disk or a server",
        { path: this.table.paths[0] },
      );
    }
    const blocks = decodedBlocks();
    const seed: Seed<F> = {
      ...this.#options,
      files: this.table.shards,
      blocks: blocks.memory,
      owner: this.#owner ??= blocks.newOwner(),
    };
    return { module: this.#format.module, data: seed };
  }

  close(): void {
    for (const source of this.sources) source.close();
    this.#cells.close();
  }

  protected override fieldsOf(file: number): readonly Field[] {
    return this.#cells.fields(file);
  }

  protected override sizeOf(node: NodeId): number {
    return this.enterField(node) ? this.#bytes().length : -1;
  }

  protected override nullOfField(): () => boolean {
    const { shard, field, number } = this;
    return () => this.#cells.isNull(shard, field, number);
  }

  #bytes(): Uint8Array {
    return this.#cells.bytes(this.shard, this.field, this.number);
  }
}

/** Recreates a shared tree in another thread, over the same tables, and reopens the files. */
export async function reopenRowTree<F extends RowFile>(
  format: RowFormat<F>,
  data: unknown,
): Promise<Tree> {
  const { files, blocks, owner, ...options } = data as Seed<F>;
  await runAsync(format.load());
  const shared = new SharedCells(new DecodedBlocks(blocks), owner);
  const table = new ShardTable(files, rowsOf);
  return new RowTree(format, [], table, options, shared);
}
