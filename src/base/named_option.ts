/**
 * Options that messages name. An error, or a call of `onWarning`, carries them as values next to its text, so that the
 * command line can name its flags instead.
 *
 * @module
 */

import type { RecordfsError } from "./errors.ts";

/** An option of the library that a message names, such as `lossy` or `checkData: false`. */
export type NamedOption = RecordfsError["namedOptions"][number];

/** Receives messages, with the options that each names. */
export type MessageListener = (
  message: string,
  options?: readonly NamedOption[],
) => void;

/** Reads data without comparing checksums. */
export const UNCHECKED: NamedOption = { name: "checkData", value: false };
/** Forces a format. */
export const FORMAT: NamedOption = { name: "format" };
/** Converts despite losses. */
export const LOSSY: NamedOption = { name: "lossy" };
/** Reads only some samples. */
export const SUBSET: NamedOption = { name: "subset" };
/** Replaces what exists. */
export const REPLACE: NamedOption = { name: "replace" };

/** Caches nothing on the disk. */
export const NO_CACHE: NamedOption = { name: "cache", value: false };
/** Shows values decoded. */
export const DECODED: NamedOption = { name: "decoded" };
/** Continues what was interrupted. */
export const RESUME: NamedOption = { name: "resume" };
/** Types of the keys of a dataset of bags. */
export const SPEC: NamedOption = { name: "spec" };

/** Returns an option as messages name it: "the option `checkData: false`". */
export function optionText({ name, value }: NamedOption): string {
  const shown = value === undefined ? "" : `: ${JSON.stringify(value)}`;
  return `the option \`${name}${shown}\``;
}

/** Longest chain of causes that is searched: an error may be its own cause. */
const DEEPEST = 8;

/** Returns the options named by an error or its causes, whose messages it may contain. */
export function optionsNamedBy(error: unknown): readonly NamedOption[] {
  const found: NamedOption[] = [];
  let next = error;
  for (let depth = 0; depth < DEEPEST && next instanceof Error; depth++) {
    const { namedOptions } = next as { readonly namedOptions?: unknown };
    if (Array.isArray(namedOptions)) found.push(...namedOptions);
    next = next.cause;
  }
  return found;
}
