import { Byte, JsonScanner, withSentinel } from "./scanner.ts";
import { decodeText, type JsonValue, parsePlainJson } from "./value.ts";

/**
 * The text of each value of an object, in the order of the file; that of a key that comes again
 * replaces the first's, as in Python.
 *
 * @returns `undefined` where the text is another value.
 * @throws {JsonError} If it is no JSON.
 */
export function jsonMembers(
  text: string | Uint8Array,
): Map<string, string> | undefined {
  const members = new Map<string, string>();
  const isObject = eachPart(text, Byte.OPEN_OBJECT, (scanner) => {
    const key = readKey(scanner);
    members.set(key, valueText(scanner));
  });
  return isObject ? members : undefined;
}

/**
 * Parses a JSON file that holds an object, and keeps the order of its keys, which a JavaScript object
 * does not where they look like numbers.
 *
 * @returns `undefined` where the file holds another value.
 * @throws {JsonError} If it is no JSON.
 */
export function parseObjectEntries(
  bytes: Uint8Array,
): Map<string, JsonValue> | undefined {
  const members = jsonMembers(bytes);
  return members && new Map(
    [...members].map(([key, text]) => [key, parsePlainJson(text)]),
  );
}

/**
 * The text of each item of a list.
 *
 * @returns `undefined` where the text is another value.
 * @throws {JsonError} If it is no JSON.
 */
export function jsonItems(text: string | Uint8Array): string[] | undefined {
  const items: string[] = [];
  const isList = eachPart(
    text,
    Byte.OPEN_LIST,
    (scanner) => items.push(valueText(scanner)),
  );
  return isList ? items : undefined;
}

/** Moves over a key and the colon behind it, and returns the key. */
export function readKey(scanner: JsonScanner): string {
  scanner.peek();
  const start = scanner.position;
  scanner.skipString();
  const key = textFrom(scanner, start);
  scanner.expect(Byte.COLON);
  return parsePlainJson(key) as string;
}

/** Has each part of a list or an object be passed; answers `false` where the text is another value. */
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
  if (isIt) scanner.pass(open + 2, () => pass(scanner)); // as in ASCII
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
  return decodeText(bytes.subarray(start, position));
}
