import { FormatError } from "../base/errors.ts";
import { encodeName } from "../base/names.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { NamedTree } from "./names/named_tree.ts";
import { NameTable, type NameTableColumns } from "./names/name_table.ts";
import {
  NameFaultError,
  NameTableBuilder,
} from "./names/name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "./shared_numbers.ts";
import {
  type Extent,
  type NodeId,
  placeChecked,
  placeRange,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "./tree.ts";

interface ListedColumns {
  readonly names: NameTableColumns;
  /** Per file: offset and length of its content. */
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  readonly checksums: Uint32Array | undefined;
  readonly mtime: number;
}

/** Tree of listed files: file i is node i + 2. */
class ListedTree extends NamedTree<NameTable> {
  readonly sources: readonly ByteSource[];
  readonly #columns: ListedColumns;

  constructor(sources: readonly ByteSource[], columns: ListedColumns) {
    super(new NameTable(columns.names), columns.mtime);
    this.sources = sources;
    this.#columns = columns;
  }

  sampleOf(node: NodeId): number {
    return this.recordOf(node);
  }

  samples(): SampleNodes {
    const { length: count } = this.#columns.offsets;
    const runs = count === 0 ? [] : [{ first: ROOT + 1, stride: 1, count }];
    return { areDirectories: false, runs };
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.#columns };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  protected locateRecord(record: number, into: Extent): void {
    const { offsets, lengths, checksums } = this.#columns;
    const [offset, length] = [offsets[record]!, lengths[record]!];
    const checksum = checksums?.[record];
    if (checksum === undefined) placeRange(0, offset, length, into);
    else placeChecked(0, offset, length, "crc32", checksum, into);
  }
}

/**
 * Makes a tree from the file list of a single-file container. All files are in the root, in list order, and each is a
 * sample. Closing the tree closes the source.
 *
 * @throws {FormatError} With code `bad-index` if a file lies outside the container, or its name is invalid or a
 *   duplicate.
 */
export function listedTree(
  source: ByteSource,
  files: readonly {
    /** Name in the root: unique, without slashes. */
    readonly name: string;
    /** Offset in the container's file, in bytes. */
    readonly offset: number;
    /** Length of the content in bytes. */
    readonly length: number;
    /** CRC-32 of the content, if the container stores one for each file. */
    readonly crc32?: number | undefined;
  }[],
): Tree {
  const bad = (why: string, cause?: unknown) => {
    const path = source.name;
    const message = `Cannot read ${path}: its list of files is damaged: ${why}`;
    return new FormatError("bad-index", message, { path, cause });
  };
  const builder = new NameTableBuilder(files.length, new Uint8Array(0));
  builder.nextDirectory();
  try {
    for (const [i, { name, offset, length }] of files.entries()) {
      const isInside = offset >= 0 && length >= 0 &&
        offset + length <= source.size;
      if (!isInside) throw bad(`'${name}' is out of bounds`);
      const bytes = encodeName(name);
      const start = builder.intern(bytes);
      builder.addFile(start, start + bytes.length, i);
    }
    return new ListedTree([source], {
      names: builder.finish().columns,
      offsets: sharedFloat64(files.map(({ offset }) => offset)),
      lengths: sharedFloat64(files.map(({ length }) => length)),
      checksums: files.every(({ crc32 }) => crc32 !== undefined)
        ? sharedUint32(files.map(({ crc32 }) => crc32!))
        : undefined,
      mtime: source.mtime,
    });
  } catch (error) {
    if (!(error instanceof NameFaultError)) throw error;
    throw bad(error.message, error);
  }
}

export function reopenTree(data: unknown): Tree {
  return new ListedTree([], data as ListedColumns);
}
