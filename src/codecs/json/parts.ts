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
  const scanner = scannerOf(text);
  if (scanner.peek() !== Byte.OPEN_OBJECT) {
    finish(scanner);
    return undefined;
  }
  const members = new Map<string, string>();
  if (scanner.enter(Byte.CLOSE_OBJECT)) {
    do {
      scanner.peek();
      const start = scanner.position;
      scanner.skipString();
      const key = textFrom(scanner, start);
      scanner.expect(Byte.COLON);
      members.set(parsePlainJson(key) as string, valueText(scanner));
    } while (scanner.next(Byte.CLOSE_OBJECT));
  }
  scanner.finish();
  return members;
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
  const scanner = scannerOf(text);
  if (scanner.peek() !== Byte.OPEN_LIST) {
    finish(scanner);
    return undefined;
  }
  const items: string[] = [];
  if (scanner.enter(Byte.CLOSE_LIST)) {
    do items.push(valueText(scanner)); while (scanner.next(Byte.CLOSE_LIST));
  }
  scanner.finish();
  return items;
}

function scannerOf(text: string | Uint8Array): JsonScanner {
  const bytes = typeof text === "string"
    ? new TextEncoder().encode(text)
    : text;
  return new JsonScanner(withSentinel(bytes));
}

function finish(scanner: JsonScanner): void {
  scanner.skipValue();
  scanner.finish();
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
