import type { Insertion } from "../insertions.ts";
import { Byte, type JsonScanner } from "./scanner.ts";

const utf8 = new TextEncoder();

/** Where a list or an object ends: behind its last item, or in front of its bracket where it has none. */
export interface JsonEnd {
  readonly at: number;
  readonly isEmpty: boolean;
}

/** Text of items behind the last one, as Python's `json.dump` separates them. */
export function insertItems(
  { at, isEmpty }: JsonEnd,
  items: readonly string[],
): Insertion {
  const text = items.join(", ");
  return {
    at,
    bytes: utf8.encode(isEmpty || text === "" ? text : `, ${text}`),
  };
}

/** The end of the object that is all of a JSON file; the file is known to be one. */
export function endOfObject(bytes: Uint8Array): JsonEnd {
  const close = bytes.lastIndexOf(Byte.CLOSE_OBJECT); // blanks alone may follow it
  let at = close;
  while (isBlank(bytes[at - 1]!)) at--;
  const isEmpty = bytes[at - 1] === Byte.OPEN_OBJECT;
  return { at: isEmpty ? close : at, isEmpty };
}

/** Moves over a list and tells where it ends; over another value for nothing. */
export function skipToEndOfList(scanner: JsonScanner): JsonEnd | undefined {
  if (scanner.peek() !== Byte.OPEN_LIST) {
    scanner.skipValue();
    return undefined;
  }
  let at = scanner.position + 1;
  let isEmpty = true;
  scanner.pass(Byte.CLOSE_LIST, () => {
    scanner.skipValue();
    at = scanner.position;
    isEmpty = false;
  });
  return { at, isEmpty };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
