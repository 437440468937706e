import { RecordfsError } from "../base/errors.ts";
import { decodeName, encodeName, sortNames } from "../base/names.ts";
import { inParallel } from "../io/concurrency/concurrency_limit.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { changedFile } from "../io/storage/changed_file.ts";
import { baseOf } from "../io/storage/layered_storage.ts";
import {
  type FileFacts,
  LOCAL_DISK,
  type Storage,
} from "../io/storage/storage.ts";
import {
  requireReached,
  storageInThread,
} from "../io/storage/thread_storage.ts";
import { LateSource } from "./late_source.ts";
import { NamedTree } from "./names/named_tree.ts";
import {
  LONGEST_NAME,
  NamesTooLongError,
  NameTableBuilder,
} from "./names/name_table_builder.ts";
import { NameTable, type NameTableColumns } from "./names/name_table.ts";
import { OpenPool, type Poolable } from "./open_pool.ts";
import { sharedFloat64, sharedUint32 } from "./shared_numbers.ts";
import {
  type Extent,
  type LazySources,
  placeRange,
  type TreeHandle,
} from "./tree.ts";

/** Files and directories that one tree lists, at most. */
const MOST_ENTRIES = 2 ** 24;

/** Files of a directory that are open at a time, in each thread. */
const MOST_OPEN = 64;

/** What a directory holds, as it was listed, over memory that threads share. */
export interface DirectoryListing {
  readonly path: string;
  readonly names: NameTableColumns;
  /** Per file: its node and size. */
  readonly nodes: Uint32Array;
  readonly sizes: Float64Array;
  /** Per node: modification time in milliseconds since 1970. */
  readonly times: Float64Array;
  readonly mtime: number;
}

/** How files are read: as sources that open themselves, or as they are, for threads that map them. */
export type Reading = "late" | "mapped";

/** A plain directory, or the keys below a prefix of a bucket, as they were when they were listed. */
export class DirectoryTree extends NamedTree<NameTable> {
  readonly sources: DirectorySources;
  readonly listing: DirectoryListing;

  constructor(seed: DirectoryListing, storage: Storage, reading: Reading) {
    super(new NameTable(seed.names), seed.mtime, seed.times);
    this.listing = seed;
    const facts = (file: number) => ({
      name: `${seed.path}/${this.pathTo(seed.nodes[file]!)}`,
      size: seed.sizes[file]!,
      mtime: seed.times[seed.nodes[file]! - 1]!,
    });
    const { path, sizes } = seed;
    const { length } = sizes;
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const all = { path, storage, length, bytes, facts };
    this.sources = new DirectorySources(all, reading);
  }

  /** Number of files. */
  get fileCount(): number {
    return this.listing.sizes.length;
  }

  protected locateRecord(record: number, into: Extent): void {
    placeRange(record, 0, this.listing.sizes[record]!, into);
  }

  share(): TreeHandle {
    requireReached(this.listing.path, this.sources.storage);
    return { module: import.meta.url, data: this.listing };
  }

  close(): void {
    this.sources.close();
  }
}

interface OpenedFile extends Poolable {
  readonly source: ByteSource;
}

interface ListedFiles {
  readonly path: string;
  readonly storage: Storage;
  readonly length: number;
  readonly bytes: number;
  /** Returns what the listing says of a file. */
  readonly facts: (
    file: number,
  ) => Pick<ByteSource, "mtime" | "name" | "size">;
}

/** Files of a directory, each opened on first use. */
class DirectorySources implements LazySources {
  readonly path: string;
  readonly storage: Storage;
  readonly #files: ListedFiles;
  readonly #reading: Reading;
  readonly #open = new OpenPool<OpenedFile>(MOST_OPEN);

  constructor(files: ListedFiles, reading: Reading) {
    this.path = files.path;
    this.storage = files.storage;
    this.#files = files;
    this.#reading = reading;
  }

  /** Size of all files in bytes. */
  get knownBytes(): number {
    return this.#files.bytes;
  }

  at(index: number): ByteSource | undefined {
    if (!(index < this.#files.length)) return undefined;
    if (this.#reading === "mapped") return runSync(this.#opened(index)).source;
    const isLocal = baseOf(this.storage) === LOCAL_DISK;
    const facts = { ...this.#files.facts(index), isLocal };
    const opened = () => this.#opened(index);
    return new LateSource(facts, {
      *lend() {
        const file = yield* opened();
        file.users++;
        return { source: file.source, end: () => void file.users-- };
      },
      peek: () => this.#open.get(index)?.source,
    });
  }

  close(): void {
    this.#open.dropAll();
  }

  *#opened(index: number): Steps<OpenedFile> {
    const known = this.#open.get(index);
    if (known !== undefined) return known;
    const listed = this.#files.facts(index);
    const source = yield* this.storage.open(listed.name);
    if (!isAsListed(source, listed, this.storage)) {
      source.close();
      throw changedFile(listed.name, listed.size, source.size);
    }
    const other = this.#open.get(index); // opened meanwhile by another caller
    if (other !== undefined) {
      source.close();
      return other;
    }
    const close = () => source.close();
    const file: OpenedFile = { source, close, used: 0, users: 0 };
    this.#open.add(index, file);
    return file;
  }
}

/** Whether a file is still the listed one. Servers give other times in lists than in responses. */
export function isAsListed(
  now: Pick<FileFacts, "mtime" | "size">,
  listed: Pick<FileFacts, "mtime" | "size">,
  storage: Storage,
): boolean {
  const hasTime = baseOf(storage) === LOCAL_DISK;
  return now.size === listed.size && (!hasTime || now.mtime === listed.mtime);
}

interface ListedDirectory {
  readonly path: string;
  readonly depth: number;
  /** The directory itself and those above, to notice links that lead back. */
  readonly above: readonly Pick<FileFacts, "id" | "mtime">[];
}

interface Entry {
  readonly name: string;
  readonly facts: FileFacts;
}

/**
 * Lists a directory with everything below it, and opens nothing. Entries that cannot be examined are skipped with a
 * warning.
 *
 * @throws {RecordfsError} If the directory itself cannot be listed, or holds too much.
 */
export function* listDirectory(
  path: string,
  storage: Storage,
  onWarning: (message: string) => void,
): Steps<DirectoryTree> {
  const root = path.replace(/(?<=.)\/+$/, "");
  const facts = yield* storage.stat(path);
  const listed: Entry[][] = [];
  let level: ListedDirectory[] = [{
    path: root,
    depth: 0,
    above: facts === undefined ? [] : [facts],
  }];
  let entries = 0;
  const skip = (path: string, why: string) =>
    onWarning(`${path} is skipped: ${why}`);
  while (level.length > 0) {
    const found: Entry[][] = [];
    yield* inParallel(level.map(function* (directory, i) {
      found[i] = yield* entriesOf(directory, storage, skip);
      entries += found[i].length;
      if (entries > MOST_ENTRIES) throw tooMany(path);
    }));
    listed.push(...found);
    level = found.flatMap((entries, i) =>
      entries.filter(({ facts }) => facts.isDirectory)
        .map(({ name, facts }) => below(level[i]!, name, facts))
    );
  }
  const mtime = listed.flat()
    .reduce((last, { facts }) => Math.max(last, facts.mtime), 0);
  const rootTime = facts?.mtime || mtime;
  try {
    const seed = columnsOf(root, listed, rootTime);
    return new DirectoryTree(seed, storage, "late");
  } catch (error) {
    if (error instanceof NamesTooLongError) throw tooMany(path);
    throw error;
  }
}

function below(
  { path, depth, above }: ListedDirectory,
  name: string,
  facts: FileFacts,
): ListedDirectory {
  return {
    path: `${path}/${name}`,
    depth: depth + 1,
    above: [...above, { id: facts.id, mtime: facts.mtime }],
  };
}

function* entriesOf(
  { path, depth, above }: ListedDirectory,
  storage: Storage,
  skip: (path: string, why: string) => void,
): Steps<Entry[]> {
  let names: readonly string[];
  try {
    names = (yield* storage.list(path)) ?? [];
  } catch (error) {
    if (depth === 0 || !isRefusal(error)) throw error;
    skip(path, error.message);
    return [];
  }
  // A server may repeat a name, or write it in two ways.
  const exact = names.map((name) => decodeName(encodeName(name)));
  const sorted = sortNames([...new Set(exact)]);
  const entries: (Entry | undefined)[] = [];
  const look = function* (name: string, i: number): Steps<void> {
    const at = `${path}/${name}`;
    const fault = faultOf(name);
    if (fault !== undefined) return skip(at, fault);
    try {
      const facts = yield* storage.stat(at);
      if (facts === undefined) return skip(at, "it is not there");
      const isAbove = facts.isDirectory && facts.id !== 0 &&
        above.some(({ id, mtime }) => id === facts.id && mtime === facts.mtime);
      if (isAbove) return skip(at, "it is a link to a directory above it");
      entries[i] = { name, facts };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      skip(at, error.message);
    }
  };
  // Awaiting each of many files takes longer than all else.
  if (storage === LOCAL_DISK) {
    for (const [i, name] of sorted.entries()) runSync(look(name, i));
  } else yield* inParallel(sorted.map(look));
  return entries.filter((entry) => entry !== undefined);
}

/** Whether a system or a server refuses one entry, rather than everything. */
function isRefusal(error: unknown): error is RecordfsError {
  return error instanceof RecordfsError &&
    ["EACCES", "ELOOP", "EPERM", "ENOENT", "ENAMETOOLONG"].includes(error.code);
}

function faultOf(name: string): string | undefined {
  if (name === "" || name === "." || name === ".." || /[/\0]/.test(name)) {
    return "no file can have its name";
  }
  const { length } = encodeName(name);
  return length > LONGEST_NAME
    ? `its name has ${length} bytes, more than ${LONGEST_NAME}`
    : undefined;
}

function columnsOf(
  path: string,
  listed: readonly (readonly Entry[])[],
  mtime: number,
): DirectoryListing {
  const count = listed.reduce((sum, { length }) => sum + length, 0);
  const builder = new NameTableBuilder(count, new Uint8Array(0));
  const times = sharedFloat64(count + 1);
  times[0] = mtime;
  const nodes: number[] = [];
  const sizes: number[] = [];
  let node = 1;
  for (const entries of listed) {
    builder.nextDirectory();
    for (const { name, facts } of entries) {
      const bytes = encodeName(name);
      const start = builder.intern(bytes);
      const end = start + bytes.length;
      times[node++] = facts.mtime || mtime;
      if (facts.isDirectory) builder.addDirectory(start, end);
      else {
        builder.addFile(start, end, nodes.length);
        nodes.push(node);
        sizes.push(facts.size);
      }
    }
  }
  return {
    path,
    names: builder.finish().columns,
    nodes: sharedUint32(nodes),
    sizes: sharedFloat64(sizes),
    times,
    mtime,
  };
}

function tooMany(path: string): RecordfsError {
  return new RecordfsError(
    "too-many",
    `Cannot open ${path}: it holds more than ${MOST_ENTRIES} files and directories, or too long names. ` +
      "Open a directory in it",
    { path, expected: MOST_ENTRIES },
  );
}

export function reopenTree(data: unknown): DirectoryTree {
  const seed = data as DirectoryListing;
  return new DirectoryTree(seed, storageInThread(seed.path), "mapped");
}
