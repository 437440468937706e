import { FormatError, RecordfsError } from "../base/errors.ts";
import { FORMAT, type NamedOption, optionText } from "../base/named_option.ts";
import type { FormatDescriptor } from "../formats/format.ts";
import {
  formatNamed,
  formats,
  loadedFormat,
  loadFormat,
} from "../formats/registry.ts";
import { ended, perform, type Steps } from "../io/concurrency/steps.ts";
import { readPart } from "../io/read/read_part.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import type { Container, ContainerOptions, Probe } from "../tree/format.ts";
import { openFile, passOpenFile } from "../io/storage/open_file.ts";
import { explaining, firstBytes } from "./other_content.ts";

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
  return yield* withFormat(path, options, ended);
}

/** Like {@linkcode findFormat}, and passes the format to `use`. A file opened for detection is reused, not reopened. */
export function* withFormat<T>(
  path: string,
  { format: forced, storage = LOCAL_DISK }: ContainerOptions,
  use: (entry: FormatDescriptor) => Steps<T>,
): Steps<T> {
  if (forced !== undefined) return yield* use(formatNamed(forced));
  const pattern = yield* findPattern(path, storage);
  if (pattern !== undefined) return yield* use(pattern);
  const recognise = function* (probe: Probe) {
    if (probe.names === undefined) return yield* recogniseFile(probe);
    return yield* recogniseDirectory(
      { ...probe, names: probe.names },
      storage === LOCAL_DISK,
    );
  };
  return yield* probing(path, storage, recognise, use);
}

/** Inspects a location: a directory, or the bytes of a file. `use` may open that file, which is then not reopened. */
function* probing<F, T>(
  path: string,
  storage: Storage,
  look: (probe: Probe) => Steps<F>,
  use: (found: F) => Steps<T>,
): Steps<T> {
  const names = yield* storage.list(path);
  if (names !== undefined) {
    const namesIn = (name: string) => storage.list(`${path}/${name}`);
    const headOf = (name: string, most: number) =>
      firstBytes(`${path}/${name}`, storage, most);
    const found = yield* look({
      path,
      names,
      namesIn,
      headOf,
      size: 0,
      read: noBytes,
    });
    return yield* use(found);
  }
  const source = yield* openFile(storage, path);
  let close = () => source.close();
  try {
    const found = yield* look({
      path,
      names: undefined,
      namesIn: nothing,
      headOf: (name, most) =>
        firstBytes(path.replace(/[^/]*$/, () => name), storage, most),
      size: source.size,
      read: (offset, length) => readPart(source, offset, length),
    });
    close = passOpenFile(storage, path, source);
    return yield* use(found);
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
    if (yield* probing(path, storage, own.detect, ended)) return undefined;
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

/** Opens a container; `entry` is its format, if already detected. */
export function openOne(
  path: string,
  options: ContainerOptions,
  entry?: FormatDescriptor,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  return explaining(openForced(path, options, entry), storage);
}

function* openForced(
  path: string,
  options: ContainerOptions,
  entry: FormatDescriptor | undefined,
): Steps<Container> {
  try {
    return yield* openFound(path, options, entry);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw (yield* otherFormat(path, options, error)) ?? error;
  }
}

function openFound(
  path: string,
  options: ContainerOptions,
  entry: FormatDescriptor | undefined,
): Steps<Container> {
  const openAs = function* (found: FormatDescriptor): Steps<Container> {
    const format = yield* perform({
      sync: () => loadedFormat(found),
      async: () => loadFormat(found),
    });
    return yield* format.open(path, options);
  };
  return entry === undefined
    ? withFormat(path, options, openAs)
    : openAs(entry);
}

/**
 * Returns the first format that recognises a file. Formats with the file's suffix come first, because a bag may begin
 * with a record that is itself a file of samples.
 */
function* recogniseFile(probe: Probe): Steps<FormatDescriptor> {
  const isOwn = ({ suffixes }: FormatDescriptor) =>
    suffixes.some((suffix) => probe.path.endsWith(suffix));
  const own = formats().filter(isOwn);
  const others = formats().filter((format) => !isOwn(format));
  for (const format of [...own, ...others]) {
    if (yield* format.detect(probe)) return format;
  }
  throw unknown(probe);
}

/**
 * Returns the format of a directory. Throws if none recognises it, or it holds containers of several formats: only its
 * owner knows which is meant.
 */
function* recogniseDirectory(
  probe: Probe & { readonly names: readonly string[] },
  canBePacked: boolean,
): Steps<FormatDescriptor> {
  const { path } = probe;
  const found: FormatDescriptor[] = [];
  for (const format of formats()) {
    if (yield* format.detect(probe)) found.push(format);
  }
  const [first] = found;
  if (first === undefined) throw unknown(probe, canBePacked);
  if (found.length === 1) return first;
  const names = probe.names.toSorted();
  const sure = found.flatMap((format) => {
    const evidence = format.evidence?.(names);
    return evidence === undefined ? [] : [{ format, evidence }];
  });
  if (sure.length < 2) return sure[0]?.format ?? first;
  const held = sure.map(({ evidence }) => evidence).join(" and ");
  const choices = sure
    .map(({ format }): NamedOption => ({ ...FORMAT, value: format.name }));
  throw new FormatError(
    "several-formats",
    `Cannot open ${path}: it holds ${
      sure.length === 2 ? "both " : ""
    }${held}. ` +
      `Give one of these files, or choose with ${
        choices.map(optionText).join(" or ")
      }`,
    { path, namedOptions: choices },
  );
}

/** Returns the format of a pattern, if nothing exists at the path itself. */
export function* findPattern(
  path: string,
  storage: Storage,
): Steps<FormatDescriptor | undefined> {
  const found = formats().find(({ isPattern }) => isPattern?.(path));
  return found !== undefined && (yield* isNothing(path, storage))
    ? found
    : undefined;
}

/** Whether nothing exists at a path. An error counts as nothing: some buckets do not tell everybody. */
function* isNothing(path: string, storage: Storage): Steps<boolean> {
  try {
    return (yield* storage.stat(path)) === undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return true;
    throw error;
  }
}

function* nothing(): Steps<undefined> {}

// deno-lint-ignore require-yield -- a directory has no bytes to wait for
function* noBytes(): Steps<Uint8Array> {
  return new Uint8Array(0);
}

/** @param canBePacked Whether `recordfs pack` can make a container of the directory. */
function unknown(
  { path, names, size }: Probe,
  canBePacked = false,
): FormatError {
  const suffixes = formats().filter(({ areFiles }) => !areFiles)
    .flatMap(({ suffixes }) => suffixes);
  const last = suffixes.pop();
  const sorted = names?.toSorted() ?? [];
  for (const { nearly } of formats()) {
    const found = nearly?.(sorted);
    if (found === undefined) continue;
    const { namedOptions } = found;
    return new FormatError(found.code, `Cannot open ${path}: it ${found.why}`, {
      path,
      namedOptions,
    });
  }
  const why = names === undefined
    ? `its ${size} bytes match no known format`
    : `the directory holds no ${
      suffixes.join(", ")
    } or ${last} file, and no shards with any`;
  const known = formats().map(({ name }) => name).join(", ");
  const hint = canBePacked && sorted.length > 0
    ? `Make one of its files with \`recordfs pack\`, or force one of ${known} with ${
      optionText(FORMAT)
    }`
    : `Known formats: ${known}; force one with ${optionText(FORMAT)}`;
  return new FormatError(
    "unknown-format",
    `Cannot open ${path}: its format is unknown: ${why}. ${hint}`,
    { path, namedOptions: [FORMAT] },
  );
}
