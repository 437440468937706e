import { openShards } from "../../../tree/samples/open_shards.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { sortNames } from "../../../base/names.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  allStoredAt,
  lastingAt,
  type LocationOptions,
  storedAt,
} from "../../../io/storage/stored_location.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { PendingHeader, readHeader, type RecordFileHeader } from "./header.ts";
import { SampleIndex, type SamplePart } from "./sample_index.ts";

/** Location of FFRecord data: a file, several in order, or a directory of `.ffr`. */
export type RecordLocation = string | URL | readonly (string | URL)[];

/** Makes a location independent of the working directory. */
export function lastingLocation(
  location: RecordLocation,
  options: LocationOptions,
): RecordLocation {
  return typeof location === "string" || location instanceof URL
    ? lastingLocationOf(location, options)
    : location.map((path) => lastingLocationOf(path, options));
}

/** Keeps a URL whole: the parts before and after its path are needed to open it. */
function lastingLocationOf(
  location: string | URL,
  options: LocationOptions,
): string {
  const { path, storage } = lastingAt(location, options);
  return storage === LOCAL_DISK ? path : String(location);
}

/** Options of everything that opens `.ffr` files. */
export interface OpenOptions extends LocationOptions {
  /** Whether to verify checksums: of the metadata on opening, of each sample on reading. Defaults to `true`. */
  readonly checkData?: boolean | undefined;
  /** Called with warnings about odd but readable data. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

export interface RecordFiles {
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  readonly headers: readonly RecordFileHeader[];
  readonly index: SampleIndex;
}

/**
 * Opens the files and reads their headers; if `pending`, {@linkcode completeHeaders} loads the tables, while threads
 * already serve from them.
 */
export function* openRecordFiles(
  location: RecordLocation,
  options: OpenOptions = {},
  pending = false,
): Steps<RecordFiles> {
  const { checkData: check = true } = options;
  const { paths, storage } = yield* listRecordFiles(location, options);
  const opened = yield* openShards<RecordFileHeader>(
    storage,
    paths,
    (source) =>
      // With several files, the sound ones determine the sample numbers, so headers are checked first.
      pending && paths.length === 1
        ? PendingHeader.read(source, check)
        : readHeader(source, check),
  );
  const { sources, shards: headers, lost } = opened;
  warnOfOldFiles(sources.map(({ name }) => name), headers, options);
  const index = new SampleIndex(
    headers.map((header, i) => ({
      path: sources[i]!.name,
      size: sources[i]!.size,
      count: header.count,
      table: header.table,
      progress: header instanceof PendingHeader
        ? header.progress.slots
        : undefined,
    })),
    lost,
  );
  return { storage, sources, headers, index };
}

/** Opens files and passes them to `make`; closes them if that fails. */
export function* openedAs<T>(
  location: RecordLocation,
  options: OpenOptions,
  make: (files: RecordFiles) => Steps<T>,
): Steps<T> {
  const files = yield* openRecordFiles(location, options);
  try {
    return yield* make(files);
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}

/** Handle to open the same `.ffr` files in another thread; survives `postMessage` without copying tables. */
export interface RecordFilesHandle {
  readonly files: readonly {
    readonly part: SamplePart;
    /** In milliseconds since 1970. */
    readonly mtime: number;
    readonly checksum: number;
  }[];
}

export function shareRecordFiles(
  { sources, headers, index }: RecordFiles,
): RecordFilesHandle {
  const files = index.shards.map((part, i) => ({
    part,
    mtime: sources[i]!.mtime,
    checksum: headers[i]!.checksum,
  }));
  return { files };
}

/**
 * Opens files again, over tables already read and checked.
 *
 * @param storage Where they are stored, which the tables do not record.
 * @throws {FormatError} If a file has changed.
 */
export function* reopenRecordFiles(
  { files }: RecordFilesHandle,
  storage = LOCAL_DISK,
): Steps<RecordFiles> {
  const known = files.map(({ part: { path, size }, mtime }) => ({
    path,
    size,
    mtime,
  }));
  const sources = yield* reopenSources(storage, known);
  const headers = files.map(({ part: { count, table }, checksum }) => ({
    count,
    table,
    checksum,
  }));
  const index = new SampleIndex(files.map(({ part }) => part));
  return { storage, sources, headers, index };
}

/** Loads and checks the tables of pending files; throws a {@linkcode FormatError} if a checksum is wrong. */
export function* completeHeaders({ headers }: RecordFiles): Steps<void> {
  for (const header of headers) {
    if (header instanceof PendingHeader) yield* header.complete();
  }
}

/** Loads the table entries of the very last sample, if pending. */
export function* loadLastSample({ headers }: RecordFiles): Steps<void> {
  const last = headers.findLast(({ count }) => count > 0);
  if (last instanceof PendingHeader) yield* last.loadSample(last.count - 1);
}

/** Loads the table entries of the last sample of each pending file. */
export function loadLastSamples({ headers }: RecordFiles): Steps<void> {
  return inParallel(
    headers.flatMap((header) =>
      header instanceof PendingHeader && header.count > 0
        ? [header.loadSample(header.count - 1)]
        : []
    ),
  );
}

function* listRecordFiles(
  location: RecordLocation,
  options: LocationOptions,
): Steps<{ readonly paths: readonly string[]; readonly storage: Storage }> {
  if (typeof location !== "string" && !(location instanceof URL)) {
    if (location.length === 0) {
      throw new TypeError(
        "The list of FFRecord files must not be empty",
      );
    }
    return allStoredAt(location, options);
  }
  const { path: root, storage } = storedAt(location, options);
  const names = yield* storage.list(root);
  if (names === undefined) return { paths: [root], storage };
  const files = sortNames(names.filter((name) => name.endsWith(".ffr")));
  if (files.length === 0) {
    throw new RecordfsError(
      "no-files",
      `Cannot open ${root}: the directory holds no .ffr file`,
      { path: root },
    );
  }
  // Instead of Node's `join`, which takes Deno 10 ms to load.
  const start = root.endsWith("/") ? root : `${root}/`;
  return { paths: files.map((name) => start + name), storage };
}

let warned = false;

function warnOfOldFiles(
  paths: readonly string[],
  headers: readonly RecordFileHeader[],
  options: OpenOptions,
): void {
  const old = headers.findIndex(({ checksum }) => checksum === 0);
  if (old < 0) return;
  const message =
    `${paths[old]!} was written by an old version of FFRecord and ` +
    "records no checksum of its metadata; its samples are still checked";
  if (options.onWarning !== undefined) return options.onWarning(message);
  if (warned) return; // once a process, not once a file
  warned = true;
  warnOnConsole(message);
}
