import { RecordfsError } from "../errors.ts";
import { bags } from "./bags/entry.ts";
import { ffrecord } from "./ffrecord/entry.ts";
import type { Format, FormatEntry } from "./format.ts";
import { gulp } from "./gulp/entry.ts";

/** All formats, in the order in which they are asked whether a container is theirs. */
const ENTRIES: FormatEntry[] = [
  ffrecord,
  gulp,
  bags,
];

const loaded = new Map<FormatEntry, Format>();

/** All formats, in the order in which they are asked whether a container is theirs. */
export function formats(): readonly FormatEntry[] {
  return ENTRIES;
}

/** What the `format` option knows: names of formats, each followed by those of its variants. */
export function formatNames(): string[] {
  return ENTRIES.flatMap(({ name, variants = [] }) => [
    name,
    ...variants.map(({ name }) => name),
  ]);
}

/**
 * The format that has this name, or a variant of it.
 *
 * @throws {RecordfsError} With code `unknown-format` if none has.
 */
export function formatNamed(wanted: string): FormatEntry {
  const entry = ENTRIES.find(({ name, variants = [] }) =>
    name === wanted || variants.some(({ name }) => name === wanted)
  );
  if (entry !== undefined) return entry;
  throw new RecordfsError(
    "unknown-format",
    `There is no format '${wanted}'; there are ${formatNames().join(", ")}`,
  );
}

/** Loads a format. */
export async function loadFormat(entry: FormatEntry): Promise<Format> {
  const format = loaded.get(entry) ?? await entry.load();
  loaded.set(entry, format);
  return format;
}

/** A format that {@linkcode loadFormat} has loaded. */
export function loadedFormat(entry: FormatEntry): Format {
  return loaded.get(entry)!;
}
