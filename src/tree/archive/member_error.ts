import { FormatError, type FormatErrorCode } from "../../errors.ts";
import { decodeName } from "../../names.ts";
import { NamesTooLongError } from "../names/name_table_builder.ts";
import { PathFault } from "./path_entries.ts";

/** An error about a member of an archive, which the message names. */
export function memberError(
  code: FormatErrorCode,
  path: string,
  name: Uint8Array | string,
  why: string,
  facts: {
    readonly offset?: number | undefined;
    readonly cause?: unknown;
    readonly expected?: unknown;
    readonly actual?: unknown;
  } = {},
): FormatError {
  const shown = typeof name === "string" ? name : decodeName(name);
  return new FormatError(code, `${path}: '${shown}' ${why}`, {
    path,
    ...facts,
  });
}

/**
 * Says of an archive why its members make no tree.
 *
 * @param kind What it is: `tar`.
 * @param name The member that it is about, where there is one.
 */
export function treeError(
  kind: string,
  path: string,
  name: Uint8Array | undefined,
  error: unknown,
): unknown {
  if (error instanceof PathFault && name !== undefined) {
    return error.isUnsafe
      ? memberError(
        "unsafe-name",
        path,
        name,
        `${error.message}: no directory can show it, and the ${kind} is not opened; extract it by a program that you ` +
          "trust with it",
      )
      : memberError(
        "bad-structure",
        path,
        name,
        `${error.message}; the ${kind} is shown whole or not at all`,
      );
  }
  const isTooLarge = error instanceof NamesTooLongError ||
    error instanceof RangeError;
  if (!isTooLarge) return error;
  return new FormatError(
    "too-large",
    `${path} has more members, or longer names, than fit one tree: split it into several`,
    { path, cause: error },
  );
}
