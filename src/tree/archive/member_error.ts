import { FormatError } from "../../base/errors.ts";
import { decodeName } from "../../base/names.ts";
import type { NamedOption } from "../../base/named_option.ts";
import { NamesTooLongError } from "../names/name_table_builder.ts";

/** Makes an error about an archive member, named in the message and in the field `member`. */
export function memberError(
  code: FormatError["code"],
  path: string,
  name: Uint8Array | string,
  why: string,
  facts: {
    readonly offset?: number | undefined;
    readonly cause?: unknown;
    readonly expected?: unknown;
    readonly actual?: unknown;
    readonly sample?: number | undefined;
    readonly namedOptions?: readonly NamedOption[] | undefined;
  } = {},
): FormatError {
  const member = typeof name === "string" ? name : decodeName(name);
  return new FormatError(code, `Cannot read '${member}' in ${path}: ${why}`, {
    path,
    member,
    ...facts,
  });
}

/** Turns the limits of a tree into an error about the archive; returns other errors unchanged. */
export function treeError(path: string, error: unknown): unknown {
  const isTooLarge = error instanceof NamesTooLongError ||
    error instanceof RangeError;
  if (!isTooLarge) return error;
  return new FormatError(
    "too-large",
    `Cannot open ${path}: it has more members, or longer names, than ` +
      "fit one tree. Split it into several",
    { path, cause: error },
  );
}
