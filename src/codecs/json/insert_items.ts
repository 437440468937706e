import type { Insertion } from "../insertions.ts";
import { Byte, type JsonScanner } from "./scanner.ts";

const utf8 = new TextEncoder();

/** End of a list or object: after its last item, or before its closing bracket if it is empty. */
export interface JsonEnd {
  readonly at: number;
  readonly isEmpty: boolean;
}

/** Appends items after the last one, separated as by Python's `json.dump`. */
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

/** Finds the end of the object that a JSON file consists of; the caller guarantees that it is one. */
export function endOfObject(bytes: Uint8Array): JsonEnd {
  const close = bytes.lastIndexOf(Byte.CLOSE_OBJECT); // only blanks may follow it
  let at = close;
  while (isBlank(bytes[at - 1]!)) at--;
  const isEmpty = bytes[at - 1] === Byte.OPEN_OBJECT;
  return { at: isEmpty ? close : at, isEmpty };
}

/** Skips a value; returns the end of a list, `undefined` for anything else. */
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
