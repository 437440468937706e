import { decodeShortAscii } from "../../base/short_ascii.ts";
import { Byte, JsonScanner, withSentinel } from "./scanner.ts";
import { decodeText, type JsonValue, parsePlainJson } from "./value.ts";

/**
 * Returns the text of each value of an object, in file order, or `undefined` if the text is another value. Of a
 * repeated key, the last value counts, as in Python.
 *
 * @throws {JsonError} If it is not JSON.
 */
export function jsonMembers(
  text: string | Uint8Array,
): Map<string, string> | undefined {
  const members = new Map<string, string>();
  const bytes = typeof text === "string"
    ? new TextEncoder().encode(text)
    : text;
  const isObject = eachMember(bytes, (key, { value, end }) => {
    members.set(key, decodeText(bytes.subarray(value, end)));
  });
  return isObject ? members : undefined;
}

/** Byte offsets of a member of an object: of its key, its value, and its end. */
export interface MemberRange {
  readonly key: number;
  readonly value: number;
  readonly end: number;
}

/**
 * Calls `visit` with each member of an object, in file order; keys may be repeated. Returns `false`, or throws, where
 * {@linkcode jsonMembers} returns `undefined` or throws.
 */
export function eachMember(
  bytes: Uint8Array,
  visit: (name: string, range: MemberRange) => void,
): boolean {
  return eachPart(bytes, Byte.OPEN_OBJECT, (scanner) => {
    scanner.peek();
    const key = scanner.position;
    const name = readKey(scanner);
    scanner.peek();
    const value = scanner.position;
    scanner.skipValue();
    visit(name, { key, value, end: scanner.position });
  });
}

/**
 * Parses a JSON file that holds an object, preserving key order, which JavaScript objects do not for keys that look
 * like numbers. Returns `undefined`, or throws, like {@linkcode jsonMembers}.
 */
export function parseObjectEntries(
  bytes: Uint8Array,
): Map<string, JsonValue> | undefined {
  const members = jsonMembers(bytes);
  return members && new Map(
    [...members].map(([key, text]) => [key, parsePlainJson(text)]),
  );
}

/** Returns the text of each item of a list, or `undefined` for another value. Throws like {@linkcode jsonMembers}. */
export function jsonItems(text: string | Uint8Array): string[] | undefined {
  const items: string[] = [];
  const isList = eachPart(
    text,
    Byte.OPEN_LIST,
    (scanner) => items.push(valueText(scanner)),
  );
  return isList ? items : undefined;
}

/** Reads a key and the colon after it, and returns the key. */
export function readKey(scanner: JsonScanner): string {
  scanner.peek();
  const start = scanner.position;
  scanner.skipString();
  const { escaped } = scanner;
  const key = textFrom(scanner, start);
  scanner.expect(Byte.COLON);
  return escaped ? parsePlainJson(key) as string : key.slice(1, -1);
}

/** Calls `pass` at each part of a list or object; returns `false` if the text is another value. */
function eachPart(
  text: string | Uint8Array,
  open: number,
  pass: (scanner: JsonScanner) => void,
): boolean {
  const bytes = typeof text === "string"
    ? new TextEncoder().encode(text)
    : text;
  const scanner = new JsonScanner(withSentinel(bytes));
  const isIt = scanner.peek() === open;
  if (isIt) scanner.pass(open + 2, () => pass(scanner)); // closing = opening + 2 in ASCII
  else scanner.skipValue();
  scanner.finish();
  return isIt;
}

function valueText(scanner: JsonScanner): string {
  scanner.peek();
  const start = scanner.position;
  scanner.skipValue();
  return textFrom(scanner, start);
}

function textFrom({ bytes, position }: JsonScanner, start: number): string {
  return decodeShortAscii(bytes, start, position) ??
    decodeText(bytes.subarray(start, position));
}
