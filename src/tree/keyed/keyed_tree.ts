import type { FormatError } from "../../base/errors.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import type { ArchiveNotes } from "../archive/archive_notes.ts";
import { ArchiveTree } from "../archive/archive_tree.ts";
import { unescapedName } from "../names/escaped_name.ts";
import {
  type Extent,
  placeRange,
  type SampleNodes,
  type SampleRun,
  type TreeHandle,
} from "../tree.ts";
import { KeyFault, keyFaultError } from "./key_faults.ts";
import type { KeyedColumns, KeyedIndex } from "./keyed_builder.ts";

/** File of a key-value store with its tables, for other threads. */
export interface KeyedFile extends KnownFile {
  readonly columns: KeyedColumns;
  /** Bytes that are others once values may have been overwritten. */
  readonly guard: { readonly offset: number; readonly bytes: Uint8Array };
}

/** Values of a key-value store as files named by their keys; named databases, and keys of several values, as directories. */
export class KeyedTree extends ArchiveTree<KeyedColumns> {
  readonly sources: readonly ByteSource[];
  readonly file: KeyedFile;
  readonly #odd: KeyedIndex | undefined;

  /**
   * @param sources The file; empty in a thread that did not open it.
   * @param odd What of it is not shown or cannot be read; `undefined` in other threads.
   */
  constructor(
    file: KeyedFile,
    sources: readonly ByteSource[] = [],
    odd?: KeyedIndex,
  ) {
    super(file.columns, file.mtime);
    this.file = file;
    this.sources = sources;
    this.#odd = odd;
  }

  get notes(): readonly ArchiveNotes[] {
    return this.#odd === undefined
      ? []
      : this.notesOf(this.file.path, this.#odd);
  }

  /**
   * Returns the key of a value, after the name of its database: `train/000042`. Bytes that are not UTF-8 are lone
   * surrogates, as in names.
   */
  keyOf(record: number): string {
    const path = this.pathOf(record);
    const name = path.slice(0, path.length - this.columns.suffixes[record]!);
    return name.split("/").map(unescapedName).join("/");
  }

  samples(): SampleNodes {
    return { areDirectories: false, runs: runsOf(this.columns.nodes) };
  }

  locateRecord(record: number, into: Extent): void {
    const { offsets, lengths, faults } = this.columns;
    if (faults[record] !== KeyFault.NONE) throw this.faultOf(record);
    placeRange(0, offsets[record]!, lengths[record]!, into);
  }

  override faultOf(record: number): FormatError {
    const { offsets, faults } = this.columns;
    const name = this.pathOf(record);
    const [fault, offset] = [faults[record]!, offsets[record]!];
    return keyFaultError(this.file.path, name, fault, offset);
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.file };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  protected override sizeOf(record: number): number {
    return this.columns.lengths[record]!;
  }

  protected linkLength(): number {
    return -1;
  }

  protected linkStart(): number {
    return 0;
  }
}

/** Yields runs of consecutive nodes. Values whose path another has have the node 0. */
function* runsOf(nodes: Uint32Array): Generator<SampleRun> {
  for (let first = 0; first < nodes.length;) {
    const node = nodes[first]!;
    const stride = node === 0 ? 0 : 1;
    let count = 1;
    while (nodes[first + count] === node + count * stride) count++;
    yield { first: node, stride, count };
    first += count;
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export function reopenTree(data: unknown): KeyedTree {
  return new KeyedTree(data as KeyedFile);
}
