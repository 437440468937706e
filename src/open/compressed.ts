import { RecordfsError } from "../base/errors.ts";
import {
  formats,
  isNamedLike,
  loadedFormat,
  loadFormat,
} from "../formats/registry.ts";
import type { FormatDescriptor } from "../formats/format.ts";
import type { CompressedStorage } from "../io/compressed/compressed_storage.ts";
import {
  type Compression,
  compressionOfFile,
  COMPRESSIONS,
  decompressedName,
  zlibHead,
} from "../io/compressed/compressions.ts";
import { perform, type Steps } from "../io/concurrency/steps.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { depthOf, nameIn } from "../io/storage/layered_storage.ts";
import { mustWait } from "../io/storage/must_wait.ts";
import { openFile } from "../io/storage/open_file.ts";
import { pathIn } from "../io/storage/stored_location.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import type { ContainerOptions, Probe } from "../tree/format.ts";

/** Options of a container, with the storage that it is opened from. */
export interface StoredOptions extends ContainerOptions {
  readonly storage: Storage;
}

/** Most times that a file is compressed, one in the other. */
export const MOST_LAYERS = 8;

/** Returns how an open file is compressed, if it is in a way that is read. */
export function* compressionIn(
  source: ByteSource,
): Steps<Compression | undefined> {
  const compression = yield* compressionOfFile(source);
  if (compression !== undefined) {
    return compression.isRead ? compression : undefined;
  }
  const head = yield* zlibHead(source);
  if (head === undefined) return undefined;
  const plain = headProbe(head);
  for (const format of formats()) {
    if (format.isZlibbed && (yield* format.detect(plain))) {
      return COMPRESSIONS.find(({ name }) => name === "zlib");
    }
  }
  return undefined;
}

/** A file of which only the first bytes are known. */
function headProbe(head: Uint8Array): Probe {
  return {
    path: "",
    names: undefined,
    namesIn: nothing,
    headOf: nothing,
    size: Number.MAX_SAFE_INTEGER,
    // deno-lint-ignore require-yield -- they are there
    *read(offset, length): Steps<Uint8Array> {
      const bytes = new Uint8Array(length);
      bytes.set(head.subarray(offset, offset + length));
      return bytes;
    },
  };
}

function* nothing(): Steps<undefined> {}

/**
 * Returns options whose storage decompresses files, given by their stored paths and by the paths that they get. `isLive` is as
 * for {@linkcode CompressedStorage}.
 */
export function* decompressing<O extends ContainerOptions>(
  paths: ReadonlyMap<string, string>,
  options: O,
  isLive = false,
): Steps<O & { readonly storage: CompressedStorage }> {
  const { storage = LOCAL_DISK, remote, onWarning, maxRatio } = options;
  const own = { remote, onWarning, maxRatio };
  const Storage = loaded ?? (yield* perform<StorageClass>({
    sync: () => {
      throw mustWait([...paths.values()][0]!);
    },
    async: loadDecompression,
  }));
  return {
    ...options,
    storage: new Storage(storage, paths, own, undefined, isLive),
  };
}

type StorageClass = typeof CompressedStorage;

let loaded: StorageClass | undefined;

/** Loads what decompresses files, which programs need only for files that are compressed. */
export async function loadDecompression(): Promise<StorageClass> {
  const module = await import("../io/compressed/compressed_storage.ts");
  return loaded = module.CompressedStorage;
}

/**
 * Returns options whose storage decompresses the file at a path, if it is one and compressed.
 *
 * @param format Format that it is opened as. A file with its suffix that may begin with any bytes is not compressed.
 */
export function* decompressingFile<O extends ContainerOptions>(
  path: string,
  given: O,
  format?: FormatDescriptor,
): Steps<O & StoredOptions> {
  let options: O & StoredOptions = {
    ...given,
    storage: given.storage ?? LOCAL_DISK,
  };
  while (depthOf(options.storage) < MOST_LAYERS) {
    const isOwn = format?.hasNoMagic === true &&
      isNamedLike(nameIn(options.storage, path), format);
    if (isOwn) break;
    if (!(yield* isCompressed(path, options.storage))) break;
    options = yield* decompressing(new Map([[path, path]]), options);
  }
  return options;
}

/** Whether a location is a compressed file. What cannot be opened is none: its format says why. */
function* isCompressed(path: string, storage: Storage): Steps<boolean> {
  try {
    if ((yield* storage.list(path)) !== undefined) return false;
    const source = yield* openFile(storage, path);
    try {
      return (yield* compressionIn(source)) !== undefined;
    } finally {
      source.close();
    }
  } catch (error) {
    const isRefused = error instanceof RecordfsError &&
      error.code !== "must-wait";
    if (isRefused) return false;
    throw error;
  }
}

/** Returns options in which the compressed files of a directory have their plain names; `undefined` if there are none. */
export function* decompressingDirectory(
  path: string,
  names: readonly string[],
  options: ContainerOptions,
): Steps<StoredOptions | undefined> {
  const taken = new Set(names);
  const paths = new Map<string, string>();
  for (const name of names) {
    const plain = decompressedName(name);
    if (plain === name || taken.has(plain)) continue;
    taken.add(plain);
    paths.set(pathIn(path, plain), pathIn(path, name));
    paths.set(`${path}/${plain}`, pathIn(path, name));
  }
  return paths.size === 0 ? undefined : yield* decompressing(paths, options);
}

/** A pattern of compressed files, as the pattern of what they decompress to. */
export interface CompressedPattern {
  readonly format: FormatDescriptor;
  readonly path: string;
  readonly options: StoredOptions;
  /** Paths of the compressed files. */
  readonly stored: readonly string[];
}

/** Whether nothing exists at a path. An error counts as nothing: some buckets do not tell everybody. */
export function* isNothing(path: string, storage: Storage): Steps<boolean> {
  try {
    return (yield* storage.stat(path)) === undefined;
  } catch (error) {
    if (error instanceof RecordfsError && error.code !== "must-wait") {
      return true;
    }
    throw error;
  }
}

/** Returns the format of a pattern of compressed files, such as `train-{0..9}.tar.gz`; `undefined` if it is none, or a file
 * has that name. */
export function* compressedPattern(
  path: string,
  options: ContainerOptions,
): Steps<CompressedPattern | undefined> {
  const parts = path.split("::");
  const plain = parts.map(decompressedName);
  if (plain.every((part, i) => part === parts[i])) return undefined;
  const pattern = plain.join("::");
  const format = formats().find(({ isPattern }) => isPattern?.(pattern));
  if (format === undefined) return undefined;
  const { storage = LOCAL_DISK } = options;
  if (!(yield* isNothing(path, storage))) return undefined;
  const { patternPaths } = yield* perform({
    sync: () => loadedFormat(format),
    async: () => loadFormat(format),
  });
  if (patternPaths === undefined) return undefined;
  // The compressed names are a pattern of the same form.
  const ends = parts.map((part, i) => endings(part, plain[i]!));
  const [end] = ends as [Endings];
  if (
    ends.some(({ stored, shown }) =>
      stored !== end.stored || shown !== end.shown
    )
  ) {
    return undefined;
  }
  const shown = yield* patternPaths(pattern, {
    open: (path, options) => storage.open(path, options),
    stat: (path) => storage.stat(path),
    *list(path) {
      return (yield* storage.list(path))?.map(decompressedName);
    },
  });
  const paths = new Map(shown.map((path) => [path, renamed(path, end)]));
  const stored = [...paths.values()];
  const plainOptions = yield* decompressing(paths, options);
  return { format, path: pattern, options: plainOptions, stored };
}

/** How the ends of stored names and of plain ones differ. */
interface Endings {
  readonly stored: string;
  readonly shown: string;
}

function endings(stored: string, shown: string): Endings {
  let same = 0;
  while (same < shown.length && shown[same] === stored[same]) same++;
  return { stored: stored.slice(same), shown: shown.slice(same) };
}

function renamed(path: string, { stored, shown }: Endings): string {
  return path.endsWith(shown)
    ? path.slice(0, path.length - shown.length) + stored
    : path;
}
