import { FormatError, RecordfsError } from "../base/errors.ts";
import { FORMAT, optionText } from "../base/named_option.ts";
import type { FormatDescriptor } from "../formats/format.ts";
import { formatNamed, loadedFormat, loadFormat } from "../formats/registry.ts";
import { ended, perform, type Steps } from "../io/concurrency/steps.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import {
  baseOf,
  closeLayers,
  depthOf,
  LayeredStorage,
  nameIn,
  settleLayers,
} from "../io/storage/layered_storage.ts";
import { openFile, passOpenFile } from "../io/storage/open_file.ts";
import { noteStorage, withLayers } from "../tree/trees/layered_tree.ts";
import {
  compressedPattern,
  compressionIn,
  decompressing,
  decompressingDirectory,
  decompressingFile,
  MOST_LAYERS,
  type StoredOptions,
} from "./compressed.ts";
import { reaching } from "./nested.ts";
import {
  byChance,
  directoryProbe,
  fileProbe,
  findPattern,
  isOf,
  recogniseDirectory,
  recogniseFile,
  recogniseRaw,
} from "./recognise.ts";
import { explaining } from "./other_content.ts";

/**
 * Detects the format of a location by its content, unless `options.format` forces one.
 *
 * @throws {FormatError} If no format recognises it, or several do.
 * @throws {RecordfsError} If the location can't be opened, or no format has the forced name.
 */
export function* findFormat(
  path: string,
  options: ContainerOptions,
): Steps<FormatDescriptor> {
  const { storage = LOCAL_DISK } = options;
  const found = yield* findContainer(path, options);
  closeLayers(found.options.storage, storage);
  return found.format;
}

/** What to open a location with. */
export interface FoundContainer {
  readonly format: FormatDescriptor;
  /** Options whose storage decompresses the location, if needed. */
  readonly options: StoredOptions;
  /** Path in that storage. */
  readonly path: string;
}

/** Like {@linkcode findFormat}, with what to open the location with. The caller closes the layers of the storage. */
export function findContainer(
  path: string,
  options: ContainerOptions,
): Steps<FoundContainer> {
  return withFormat(
    path,
    options,
    (format, options, path) => ended({ format, options, path }),
  );
}

/** Receives the format of a location, and what to open it with: the storage may decompress it. */
type UseFormat<T> = (
  entry: FormatDescriptor,
  options: StoredOptions,
  path: string,
) => Steps<T>;

/**
 * Like {@linkcode findFormat}, and passes the format to `use`, with the path and the options to open the location with. A
 * file opened for detection is reused, not reopened.
 *
 * @param isLive Whether `use` settles the layers of the storage, so that what is compressed can be read sooner.
 */
export function* withFormat<T>(
  path: string,
  options: ContainerOptions,
  use: UseFormat<T>,
  isLive = false,
): Steps<T> {
  const { storage } = options;
  const stored = yield* reaching(
    path,
    options,
    (outer, options) => openOne(outer, options),
  );
  try {
    return yield* withFormatThere(path, stored, use, isLive);
  } catch (error) {
    closeLayers(stored.storage, storage ?? LOCAL_DISK);
    throw error;
  }
}

function* withFormatThere<T>(
  path: string,
  options: StoredOptions,
  use: UseFormat<T>,
  isLive: boolean,
): Steps<T> {
  const { format: forced, storage } = options;
  // First, because any name with `-of-` is a pattern of TFRecord.
  const compressed = yield* compressedPattern(path, options);
  if (compressed !== undefined) {
    const { format, options, path } = compressed;
    return yield* use(format, options, path);
  }
  const pattern = yield* findPattern(path, storage);
  if (pattern !== undefined) {
    const format = forced === undefined ? pattern : formatNamed(forced);
    return yield* use(format, options, path);
  }
  if (forced !== undefined) {
    const format = formatNamed(forced);
    const found = (yield* storage.list(path)) === undefined
      ? yield* decompressingFile(path, options, format)
      : yield* forcedDirectory(path, format, options);
    return yield* use(format, found, path);
  }
  const names = yield* storage.list(path);
  return names === undefined
    ? yield* withFormatOfFile(path, options, use, isLive)
    : yield* withFormatOfDirectory(path, names, options, use);
}

function* withFormatOfDirectory<T>(
  path: string,
  names: readonly string[],
  options: StoredOptions,
  use: UseFormat<T>,
): Steps<T> {
  const { storage } = options;
  const isLocal = baseOf(storage) === LOCAL_DISK;
  let found: FormatDescriptor;
  try {
    const probe = directoryProbe(path, names, storage);
    found = yield* recogniseDirectory(probe, isLocal);
  } catch (error) {
    const isUnknown = error instanceof FormatError &&
      error.code === "unknown-format";
    const plain = isUnknown
      ? yield* decompressingDirectory(path, names, options)
      : undefined;
    if (plain === undefined) throw error;
    const plainNames = (yield* plain.storage.list(path)) ?? [];
    const probe = directoryProbe(path, plainNames, plain.storage);
    try {
      found = yield* recogniseDirectory(probe, isLocal);
    } catch {
      throw error; // about the names that are there
    }
    return yield* use(found, plain, path);
  }
  return yield* use(found, options, path);
}

/** Returns options to open a directory as a container of a format: decompressing its files, if only that makes it one. */
function* forcedDirectory(
  path: string,
  format: FormatDescriptor,
  options: StoredOptions,
): Steps<StoredOptions> {
  const { storage } = options;
  const names = (yield* storage.list(path)) ?? [];
  const plain = yield* decompressingDirectory(path, names, options);
  const isPlain = plain === undefined ||
    (yield* format.detect(directoryProbe(path, names, storage)));
  if (isPlain) return options;
  const plainNames = (yield* plain.storage.list(path)) ?? [];
  const probe = directoryProbe(path, plainNames, plain.storage);
  return (yield* format.detect(probe)) ? plain : options;
}

/** Detects the format of a file, decompressed if it is compressed. */
function* withFormatOfFile<T>(
  path: string,
  options: StoredOptions,
  use: UseFormat<T>,
  isLive: boolean,
): Steps<T> {
  const { storage } = options;
  const source = yield* openFile(storage, path);
  let close = () => source.close();
  try {
    const probe = fileProbe(nameIn(storage, path), source, storage);
    const isCompressed = depthOf(storage) < MOST_LAYERS &&
      (yield* compressionIn(source)) !== undefined;
    const found = isCompressed
      ? yield* recogniseRaw(probe)
      : yield* recogniseFile(probe);
    close = passOpenFile(storage, path, source);
    if (found !== undefined) return yield* use(found, options, path);
    const paths = new Map([[path, path]]);
    const plain = yield* decompressing(paths, options, isLive);
    let decompressed: ByteSource;
    try {
      decompressed = yield* plain.storage.open(path);
    } catch (error) {
      const chance = yield* byChance(error, path, storage);
      if (chance === undefined) throw error;
      return yield* use(chance, options, path);
    }
    close = passOpenFile(plain.storage, path, decompressed);
    try {
      return yield* withFormatOfFile(path, plain, use, isLive);
    } catch (error) {
      if (!plain.storage.stopLive()) throw error;
    }
    return yield* withFormatOfFile(path, plain, use, false);
  } finally {
    close();
  }
}

/** Returns an error if a container cannot be opened as the forced format because it is of another one. */
export function* otherFormat(
  path: string,
  options: ContainerOptions,
  cause?: unknown,
): Steps<FormatError | undefined> {
  const { format: forced, storage = LOCAL_DISK } = options;
  if (forced === undefined) return undefined;
  const own = formatNamed(forced);
  try {
    if (yield* isOf(own, path, storage)) return undefined;
    const { name } = yield* findFormat(path, { ...options, format: undefined });
    if (name === own.name) return undefined;
    return new FormatError(
      "other-content",
      `Cannot open ${path} as ${own.name}: its content is of the format ` +
        `${name}. Remove ${optionText(FORMAT)}`,
      { path, cause, namedOptions: [FORMAT] },
    );
  } catch (error) {
    if (error instanceof RecordfsError && error.code !== "must-wait") {
      return undefined;
    }
    throw error;
  }
}

/** A format that was detected already, and the storage whose layers are not closed with the container. */
interface Detected {
  readonly entry: FormatDescriptor;
  readonly below: Storage;
}

/** Opens a container. */
export function openOne(
  path: string,
  options: ContainerOptions,
  detected?: Detected,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  return explaining(openForced(path, options, detected), storage);
}

function* openForced(
  path: string,
  options: ContainerOptions,
  detected: Detected | undefined,
): Steps<Container> {
  try {
    return yield* openFound(path, options, detected);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw (yield* otherFormat(path, options, error)) ?? error;
  }
}

function openFound(
  path: string,
  options: ContainerOptions,
  detected: Detected | undefined,
): Steps<Container> {
  const below = detected?.below ?? options.storage ?? LOCAL_DISK;
  const openAs = function* (
    found: FormatDescriptor,
    options: ContainerOptions,
    path: string,
  ): Steps<Container> {
    const format = yield* perform({
      sync: () => loadedFormat(found),
      async: () => loadFormat(found),
    });
    const { storage = LOCAL_DISK } = options;
    const opening = format.open(path, options);
    const container = yield* explaining(opening, storage, true);
    try {
      yield* settleLayers(storage);
    } catch (error) {
      container.tree.close();
      throw error;
    }
    noteStorage(container.tree, storage);
    if (storage instanceof LayeredStorage) {
      withLayers(container.tree, storage, below, path);
    }
    return container;
  };
  return detected === undefined
    ? withFormat(path, options, openAs, true)
    : openAs(detected.entry, options, path);
}
