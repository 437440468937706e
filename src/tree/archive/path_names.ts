/**
 * Validates names in archive paths.
 *
 * @module
 */
import type { SkipReason } from "../format.ts";
import { LONGEST_NAME } from "../names/name_table_builder.ts";

const DOT = 0x2e;
const SLASH = 0x2f;

/** Thrown for an invalid path. The message completes the sentence "The member …". */
export class PathFault extends Error {
  override name = "PathFault";
  readonly reason: SkipReason;

  constructor(reason: SkipReason, why: string) {
    super(why);
    this.reason = reason;
  }
}

export function requireNames(
  path: Uint8Array,
  start: number,
  end: number,
): void {
  for (let from = start; from < end;) {
    let to = from;
    while (to < end && path[to] !== SLASH) to++;
    requireName(path, from, to);
    from = to + 1;
  }
}

/** Throws a {@linkcode PathFault} for an invalid name. Empty names and `.` pass: they are ignored in paths. */
export function requireName(
  path: Uint8Array,
  start: number,
  end: number,
): void {
  if (
    end - start === 2 && path[start] === DOT && path[start + 1] === DOT
  ) throw new PathFault("unsafe-name", "has '..' in its path");
  if (end - start > LONGEST_NAME) {
    throw new PathFault(
      "too-long",
      `has a name of ${end - start} bytes, more than ${LONGEST_NAME}`,
    );
  }
  for (let i = start; i < end; i++) {
    if (path[i] === 0) {
      throw new PathFault("unsafe-name", "has a NUL in its path");
    }
  }
}

export function isDot(path: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && path[start] === DOT;
}
