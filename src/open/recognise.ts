import { FormatError } from "../base/errors.ts";
import { FORMAT, type NamedOption, optionText } from "../base/named_option.ts";
import type { FormatDescriptor } from "../formats/format.ts";
import { formats, isNamedLike } from "../formats/registry.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import { readPart } from "../io/read/read_part.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { openFile } from "../io/storage/open_file.ts";
import type { Storage } from "../io/storage/storage.ts";
import type { Probe } from "../tree/format.ts";
import { isNothing } from "./compressed.ts";
import { firstBytes } from "./other_content.ts";

/** Returns the format whose file only begins like a compressed one, if decompressing it has failed. */
export function* byChance(
  error: unknown,
  path: string,
  storage: Storage,
): Steps<FormatDescriptor | undefined> {
  if (!(error instanceof FormatError)) return undefined;
  const source = yield* openFile(storage, path);
  try {
    const probe = fileProbe("", source, storage);
    for (const format of formats()) {
      if (yield* format.detect(probe)) return format;
    }
    return undefined;
  } finally {
    source.close();
  }
}

/**
 * Returns the format of a file that begins like a compressed one, but is of the format that its name says: its content
 * shows that, or files of the format may begin with any bytes.
 */
export function* recogniseRaw(
  probe: Probe,
): Steps<FormatDescriptor | undefined> {
  for (const format of formats()) {
    if (!isNamedLike(probe.path, format)) continue;
    const path = format.hasNoMagic ? probe.path : "";
    if (yield* format.detect({ ...probe, path })) return format;
  }
  return undefined;
}

export function directoryProbe(
  path: string,
  names: readonly string[],
  storage: Storage,
): Probe & { readonly names: readonly string[] } {
  return {
    path,
    names,
    namesIn: (name) => storage.list(`${path}/${name}`),
    headOf: (name, most) => firstBytes(`${path}/${name}`, storage, most),
    size: 0,
    read: noBytes,
  };
}

export function fileProbe(
  path: string,
  source: ByteSource,
  storage: Storage,
): Probe {
  return {
    path,
    names: undefined,
    namesIn: nothing,
    headOf: (name, most) =>
      firstBytes(path.replace(/[^/]*$/, () => name), storage, most),
    size: source.size,
    read: (offset, length) => readPart(source, offset, length),
  };
}

/** Whether a format recognises a location. */
export function* isOf(
  format: FormatDescriptor,
  path: string,
  storage: Storage,
): Steps<boolean> {
  const names = yield* storage.list(path);
  if (names !== undefined) {
    return yield* format.detect(directoryProbe(path, names, storage));
  }
  const source = yield* openFile(storage, path);
  try {
    return yield* format.detect(fileProbe(path, source, storage));
  } finally {
    source.close();
  }
}

/**
 * Returns the first format that recognises a file. Formats with the file's suffix come first, because a bag may begin
 * with a record that is itself a file of samples.
 */
export function* recogniseFile(probe: Probe): Steps<FormatDescriptor> {
  const isOwn = (format: FormatDescriptor) => isNamedLike(probe.path, format);
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
export function* recogniseDirectory(
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
  const suffixes = [
    ...new Set(
      formats().filter(({ areFiles }) => !areFiles)
        .flatMap(({ suffixes }) => suffixes),
    ),
  ];
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
    : `the directory holds no ${suffixes.join(", ")} or ${last} file`;
  const known = formats().map(({ name }) => name).join(", ");
  const hint = canBePacked && sorted.length > 0
    ? "If it is a folder of files, pack it with `recordfs pack`; or force one of " +
      `${known} with ${optionText(FORMAT)}`
    : `Known formats: ${known}; force one with ${optionText(FORMAT)}`;
  return new FormatError(
    "unknown-format",
    `Cannot open ${path}: its format is unknown: ${why}. ${hint}`,
    { path, namedOptions: [FORMAT] },
  );
}
