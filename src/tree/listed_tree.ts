import { FormatError } from "../base/errors.ts";
import { encodeName } from "../base/names.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import { MemberSources } from "./archive/member_sources.ts";
import { PiecedFile } from "./archive/pieced_file.ts";
import {
  reopenArchive,
  shareArchive,
  type SharedArchive,
} from "./archive/shared_archive.ts";
import { JoinedSources } from "./joined_sources.ts";
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
  placeBytes,
  placeChecked,
  placeRange,
  ROOT,
  type SampleNodes,
  type SampleRun,
  type Tree,
  type TreeHandle,
} from "./tree.ts";
import { newSharedMemory } from "../io/libc/new_memory.ts";

interface ListedColumns {
  readonly names: NameTableColumns;
  /** Per file: offset and length of its stored content, and its source. */
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  readonly sources: Uint32Array;
  /** Made first bytes of all files, and where those of each file start. */
  readonly heads: Uint8Array;
  readonly headStarts: Float64Array;
  readonly checksums: Uint32Array | undefined;
  readonly directoryCount: number;
  readonly runs: readonly SampleRun[];
  readonly mtime: number;
}

/** Data from which another thread rebuilds a tree. */
interface Seed {
  readonly columns: ListedColumns;
  /** What files with made first bytes are read from. */
  readonly archives: readonly SharedArchive[];
}

/** Where the content of files lies. */
interface Origin {
  readonly opened: readonly ByteSource[];
  readonly storage: Storage;
}

/** Tree of listed files: of d directories, file i is node d + i + 2. */
class ListedTree extends NamedTree<NameTable> {
  readonly sources: Tree["sources"];
  readonly #columns: ListedColumns;
  readonly #origin: Origin;

  /** @param isOwner Whether the origin is among the tree's sources; otherwise these come from elsewhere. */
  constructor(columns: ListedColumns, origin: Origin, isOwner: boolean) {
    super(new NameTable(columns.names), columns.mtime);
    this.#columns = columns;
    this.#origin = origin;
    const { opened, storage } = origin;
    const own = isOwner ? opened : [];
    const [archive] = opened;
    const isMade = archive !== undefined && columns.heads.length > 0;
    this.sources = isMade
      ? new JoinedSources(opened.length, own, [
        new MemberSources({ archive, storage }, (file) => this.#made(file)),
      ])
      : own;
  }

  sampleOf(node: NodeId): number {
    return this.recordOf(node);
  }

  samples(): SampleNodes {
    return { areDirectories: false, runs: this.#columns.runs };
  }

  share(): TreeHandle {
    const { opened, storage } = this.#origin;
    const archives = this.#columns.heads.length === 0
      ? []
      : opened.map((source) => shareArchive(source, storage));
    const data: Seed = { columns: this.#columns, archives };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.#origin.opened) source.close();
  }

  protected locateRecord(record: number, into: Extent): void {
    const { offsets, lengths, sources, checksums } = this.#columns;
    const [offset, length] = [offsets[record]!, lengths[record]!];
    const source = sources[record]!;
    const head = this.#head(record);
    const checksum = checksums?.[record];
    if (head.length > 0 && length === 0) placeBytes(head.slice(), into);
    else if (head.length > 0) {
      const made = this.#origin.opened.length + record;
      placeRange(made, 0, head.length + length, into);
    } else if (checksum === undefined) placeRange(source, offset, length, into);
    else placeChecked(source, offset, length, "crc32", checksum, into);
  }

  #head(file: number): Uint8Array {
    const { heads, headStarts } = this.#columns;
    return heads.subarray(headStarts[file], headStarts[file + 1]);
  }

  #made(file: number): PiecedFile | undefined {
    const { offsets, lengths, sources, directoryCount } = this.#columns;
    const archive = this.#origin.opened[sources[file]!];
    if (archive === undefined) return undefined;
    const head = this.#head(file);
    const nameOf = () => this.pathTo(ROOT + 1 + directoryCount + file);
    return new PiecedFile(archive, nameOf, head.length + lengths[file]!, {
      offsets: Float64Array.of(head.length),
      lengths: lengths.subarray(file, file + 1),
      places: offsets.subarray(file, file + 1),
    }, head);
  }
}

/** File of a list: bytes that are made, then a range of a container's file. */
export interface ListedFile {
  /** Name in its directory: unique, without slashes. */
  readonly name: string;
  /** Offset of its stored content in the container's file, in bytes. */
  readonly offset: number;
  /** Length of its stored content in bytes. */
  readonly length: number;
  /** CRC-32 of the content, if the container stores one for each file. */
  readonly crc32?: number | undefined;
  /** Index of the container's file that stores it. Defaults to the first. */
  readonly source?: number | undefined;
  /** Bytes before the stored content. Defaults to none. */
  readonly head?: Uint8Array | undefined;
  /** Number of files of the sample that begins with this one; 0 if none does. Defaults to 1. */
  readonly sampleFiles?: number | undefined;
}

/** Files of a container, in order. */
export interface FileListing {
  /** The container's files, at least one. Closing the tree closes them. */
  readonly sources: readonly ByteSource[];
  readonly storage: Storage;
  readonly files: readonly ListedFile[];
  /** Directories in the root, each with so many of the files, in order. Without any, all files are in the root. */
  readonly directories?:
    | readonly { readonly name: string; readonly count: number }[]
    | undefined;
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
  return listingTree({ sources: [source], storage: LOCAL_DISK, files });
}

/** Makes a tree from the file list of a container of one or several files. Throws like {@linkcode listedTree}. */
export function listingTree(
  { sources, storage, files, directories = [] }: FileListing,
): Tree {
  const bad = (why: string, source = 0, cause?: unknown) => {
    const path = sources[source]!.name;
    const message = `Cannot read ${path}: its list of files is damaged: ${why}`;
    return new FormatError("bad-index", message, { path, cause });
  };
  for (const { name, offset, length, source = 0 } of files) {
    const isInside = offset >= 0 && length >= 0 &&
      offset + length <= sources[source]!.size;
    if (!isInside) throw bad(`'${name}' is out of bounds`, source);
  }
  let names: NameTableColumns;
  try {
    names = namesOf(files, directories);
  } catch (error) {
    if (!(error instanceof NameFaultError)) throw error;
    throw bad(error.message, 0, error);
  }
  const headStarts = sharedFloat64(files.length + 1);
  for (const [i, { head }] of files.entries()) {
    headStarts[i + 1] = headStarts[i]! + (head?.length ?? 0);
  }
  const heads = new Uint8Array(newSharedMemory(headStarts.at(-1)!));
  for (const [i, { head }] of files.entries()) {
    if (head !== undefined) heads.set(head, headStarts[i]);
  }
  const columns: ListedColumns = {
    names,
    offsets: sharedFloat64(files.map(({ offset }) => offset)),
    lengths: sharedFloat64(files.map(({ length }) => length)),
    sources: sharedUint32(files.map(({ source = 0 }) => source)),
    heads,
    headStarts,
    checksums: files.every(({ crc32 }) => crc32 !== undefined)
      ? sharedUint32(files.map(({ crc32 }) => crc32!))
      : undefined,
    directoryCount: directories.length,
    runs: runsOf(files, directories),
    mtime: sources.reduce((last, { mtime }) => Math.max(last, mtime), 0),
  };
  return new ListedTree(columns, { opened: sources, storage }, true);
}

function namesOf(
  files: readonly ListedFile[],
  directories: NonNullable<FileListing["directories"]>,
): NameTableColumns {
  const most = files.length + directories.length;
  const builder = new NameTableBuilder(most, new Uint8Array(0));
  const intern = (name: string): [start: number, end: number] => {
    const bytes = encodeName(name);
    const start = builder.intern(bytes);
    return [start, start + bytes.length];
  };
  builder.nextDirectory();
  for (const { name } of directories) builder.addDirectory(...intern(name));
  const firsts = firstsOf(directories);
  for (const [i, { name }] of files.entries()) {
    for (let n = firsts.get(i) ?? 0; n > 0; n--) builder.nextDirectory();
    builder.addFile(...intern(name), i);
  }
  for (let n = firsts.get(files.length) ?? 0; n > 0; n--) {
    builder.nextDirectory();
  }
  return builder.finish().columns;
}

/** Returns how many directories begin with a file, by its index; empty ones begin with the next directory's. */
function firstsOf(
  directories: NonNullable<FileListing["directories"]>,
): Map<number, number> {
  const firsts = new Map<number, number>();
  let first = 0;
  for (const { count } of directories) {
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
    first += count;
  }
  return firsts;
}

/** Joins samples of adjacent nodes to runs, each within a directory. */
function runsOf(
  files: readonly ListedFile[],
  directories: NonNullable<FileListing["directories"]>,
): SampleRun[] {
  const firsts = firstsOf(directories);
  const runs: SampleRun[] = [];
  let run = { first: 0, stride: 0, width: 0, count: 0 };
  for (const [i, { sampleFiles: width = 1 }] of files.entries()) {
    if (firsts.has(i)) run = { ...run, width: 0 };
    if (width === 0) continue;
    const node = ROOT + 1 + directories.length + i;
    const isNext = run.width === width &&
      node === run.first + run.count * width;
    if (isNext) run.count++;
    else runs.push(run = { first: node, stride: width, width, count: 1 });
  }
  return runs;
}

/** Rebuilds a shared tree in another thread, over the same tables. Throws if a file has changed. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { columns, archives } = data as Seed;
  const reopened = await Promise.all(archives.map(reopenArchive));
  const opened = reopened.map(({ archive }) => archive);
  const storage = reopened[0]?.storage ?? LOCAL_DISK;
  return new ListedTree(columns, { opened, storage }, false);
}
