import { isIndex } from "../../../tree/sample_indices.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { decodeName, encodeName } from "../../../base/names.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import {
  type EntryVisitor,
  type Extent,
  type NodeId,
  type NodeStat,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { loadLibrary } from "../read/library.ts";
import { type ParquetFile, rowsOf, RowTable } from "../read/parquet_files.ts";
import {
  DecodedBlocks,
  decodedBlocks,
  type DecodedMemory,
} from "../../../io/decoded/decoded_blocks.ts";
import { CellFiles } from "./cell_files.ts";
import { cellView } from "./cell_view.ts";
import { SharedCells } from "./shared_cells.ts";

/** How rows are shown. */
export interface RowTreeOptions {
  /** Names of the files' directories; `undefined` for one file, whose rows are in the root. */
  readonly shards: readonly string[] | undefined;
  /** Whether pages are compared with their checksums. */
  readonly checkData: boolean;
  /** Whether other threads can open the files. */
  readonly isReached: boolean;
}

/** What another thread rebuilds a tree from. */
interface Seed extends RowTreeOptions {
  readonly files: readonly ParquetFile[];
  /** Where threads share what they have decoded. */
  readonly blocks: DecodedMemory;
  readonly owner: number;
}

/**
 * Rows as directories, named by their numbers in their file, whose files are cells; several files are directories.
 *
 * Node ids: the root, the files' directories, all rows; then all cells, row by row.
 */
export class RowTree implements Tree {
  readonly sources: readonly ByteSource[];
  readonly table: RowTable;
  readonly #options: RowTreeOptions;
  readonly #directories: readonly Uint8Array[];
  readonly #byName: ReadonlyMap<string, number>;
  readonly #names: readonly NumberedNames[];
  /** Node of the first row. */
  readonly #firstRow: NodeId;
  /** Per file, and once more for all: the node of its first cell. */
  readonly #firstCells: readonly NodeId[];
  readonly #mtime: number;
  readonly #cells: CellFiles;
  readonly #name = new Uint8Array(300);
  /** The files, among what has blocks that threads share. */
  #owner: number | undefined;
  // Where the cell is that was asked for last.
  #file = 0;
  #row = 0;
  #column = 0;

  /**
   * @param sources None in a thread that did not open them.
   * @param shared What such a thread shares with others.
   */
  constructor(
    sources: readonly ByteSource[],
    table: RowTable,
    options: RowTreeOptions,
    shared?: SharedCells,
  ) {
    this.sources = sources;
    this.table = table;
    this.#options = options;
    const { shards = [], checkData } = options;
    this.#directories = shards.map((name) => encodeName(name));
    this.#byName = new Map(shards.map((name, i) => [name, i]));
    this.#names = table.shards.map((file) => numberedNames(rowsOf(file), ""));
    this.#firstRow = ROOT + 1 + shards.length;
    const firstCells = [this.#firstRow + table.length];
    for (const file of table.shards) {
      firstCells.push(
        firstCells.at(-1)! + rowsOf(file) * file.columns.length,
      );
    }
    this.#firstCells = firstCells;
    this.#mtime = table.shards.reduce(
      (last, { mtime }) => Math.max(last, mtime),
      0,
    );
    const opened = sources.length > 0 ? sources : undefined;
    this.#cells = new CellFiles(table.shards, checkData, opened, shared);
  }

  get nodeCount(): number {
    return this.#firstCells.at(-1)! - 1;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const file = this.#fileOfDirectory(parent);
    if (file >= 0) {
      const number = this.#names[file]!.parse(name, start, end);
      const count = rowsOf(this.table.shards[file]!);
      return number >= 0 && number < count
        ? this.#firstRow + this.table.firsts[file]! + number
        : 0;
    }
    if (parent === ROOT) {
      const shard = this.#byName.get(decodeName(name, start, end));
      return shard === undefined ? 0 : ROOT + 1 + shard;
    }
    if (!this.#enterRow(parent)) return 0;
    const { byName } = this.#cells.names(this.#file);
    const column = byName.get(decodeName(name, start, end));
    return column === undefined ? 0 : this.#firstCell() + column;
  }

  parent(node: NodeId): NodeId {
    if (this.#enterCell(node)) {
      return this.#firstRow + this.table.firsts[this.#file]! + this.#row;
    }
    const isInShard = this.#options.shards !== undefined &&
      this.#enterRow(node);
    return isInShard ? ROOT + 1 + this.#file : ROOT;
  }

  isDirectory(node: NodeId): boolean {
    return Number.isInteger(node) && node >= ROOT &&
      node < this.#firstCells[0]!;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const file = this.#fileOfDirectory(dir);
    if (file >= 0) return this.#listRows(file, cursor, visit);
    if (dir === ROOT) return this.#listShards(cursor, visit);
    if (!this.#enterRow(dir)) return;
    const first = this.#firstCell();
    const { bytes } = this.#cells.names(this.#file);
    for (let column = cursor; column < bytes.length; column++) {
      const name = bytes[column]!;
      if (!visit(name, 0, name.length, first + column, column + 1)) return;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.size = 0;
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    if (into.isDirectory) return true;
    if (!this.#enterCell(node)) return false;
    into.size = this.#bytes().length;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.#enterCell(node)) return false;
    const bytes = this.#bytes();
    into.source = -1;
    into.offset = 0;
    into.length = bytes.length;
    into.crc32 = -1;
    into.bytes = bytes;
    return true;
  }

  samples(): SampleNodes {
    const { shards: files, firsts } = this.table;
    const runs = files.flatMap((_, i) => {
      const count = firsts[i + 1]! - firsts[i]!;
      const first = this.#firstRow + firsts[i]!;
      return count === 0 ? [] : [{ first, stride: 1, count }];
    });
    return { areDirectories: true, runs };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    if (this.#enterRow(node)) {
      return this.#names[this.#file]!.write(this.#row, into);
    }
    const name = this.#directories[node - ROOT - 1];
    if (name === undefined) return 0;
    into.set(name);
    return name.length;
  }

  view(node: NodeId): NodeView | undefined {
    if (this.#enterRow(node)) return { kind: "datapoint" };
    if (!this.#enterCell(node)) return undefined;
    const column = this.table.shards[this.#file]!.columns[this.#column]!;
    const { names, keys } = this.#cells.names(this.#file);
    const shown = this.#cells.shown(this.#file, this.#column);
    const [name, key] = [names[this.#column]!, keys[this.#column]!];
    const place = [this.#file, this.#column, this.#row] as const;
    const isNull = () => this.#cells.isNull(...place);
    return cellView(column, shown, name, key, isNull);
  }

  share(): TreeHandle {
    if (!this.#options.isReached) {
      throw new RecordfsError(
        "unsupported",
        "Rows were opened from a storage of this thread, which others cannot open: only what lies on the local disk " +
          "or on a server is served by threads",
        { path: this.table.shards[0]?.path },
      );
    }
    const blocks = decodedBlocks();
    const seed: Seed = {
      ...this.#options,
      files: this.table.shards,
      blocks: blocks.memory,
      owner: this.#owner ??= blocks.newOwner(),
    };
    return { module: import.meta.url, data: seed };
  }

  close(): void {
    for (const source of this.sources) source.close();
    this.#cells.close();
  }

  #bytes(): Uint8Array {
    return this.#cells.bytes(this.#file, this.#column, this.#row);
  }

  /** The file whose rows are in a directory, or -1. */
  #fileOfDirectory(node: NodeId): number {
    if (this.#options.shards === undefined) return node === ROOT ? 0 : -1;
    const file = node - ROOT - 1;
    return isIndex(file, this.#firstRow - ROOT - 1) ? file : -1;
  }

  /** Finds the file and the row of a row's node. */
  #enterRow(node: NodeId): boolean {
    const row = node - this.#firstRow;
    if (!isIndex(row, this.table.length)) return false;
    this.#file = this.table.shardOf(row);
    this.#row = row - this.table.firsts[this.#file]!;
    return true;
  }

  /** Finds the file, the row and the column of a cell's node. */
  #enterCell(node: NodeId): boolean {
    const firsts = this.#firstCells;
    const isCell = Number.isInteger(node) && node >= firsts[0]! &&
      node < firsts.at(-1)!;
    if (!isCell) return false;
    this.#file = lastUpTo(firsts, node, firsts.length - 1);
    const at = node - firsts[this.#file]!;
    const { length } = this.table.shards[this.#file]!.columns;
    this.#row = Math.floor(at / length);
    this.#column = at % length;
    return true;
  }

  /** The node of the first cell of the row that was entered. */
  #firstCell(): NodeId {
    const { length } = this.table.shards[this.#file]!.columns;
    return this.#firstCells[this.#file]! + this.#row * length;
  }

  #listRows(file: number, cursor: number, visit: EntryVisitor): void {
    const count = rowsOf(this.table.shards[file]!);
    const names = this.#names[file]!;
    const first = this.#firstRow + this.table.firsts[file]!;
    for (let number = cursor; number < count; number++) {
      const end = names.write(number, this.#name);
      if (!visit(this.#name, 0, end, first + number, number + 1)) return;
    }
  }

  #listShards(cursor: number, visit: EntryVisitor): void {
    for (let at = cursor; at < this.#directories.length; at++) {
      const name = this.#directories[at]!;
      if (!visit(name, 0, name.length, ROOT + 1 + at, at + 1)) return;
    }
  }
}

/** Rebuilds a shared tree in another thread, over the same tables; it opens the files again. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { files, blocks, owner, ...options } = data as Seed;
  await runAsync(loadLibrary(files[0]?.path ?? ""));
  const shared = new SharedCells(new DecodedBlocks(blocks), owner);
  return new RowTree([], new RowTable(files), options, shared);
}
