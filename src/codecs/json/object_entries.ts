import { Byte, JsonScanner, withSentinel } from "./scanner.ts";
import { decodeText, type JsonValue, parseJson } from "./value.ts";

/**
 * Parses the bytes of a JSON file that holds an object, and keeps the order of its keys, which a
 * JavaScript object does not where they look like numbers. A key that comes again replaces the value
 * of the first, as in Python.
 *
 * @returns `undefined` where the file holds another value.
 * @throws {JsonError} If it is no JSON.
 */
export function parseObjectEntries(
  bytes: Uint8Array,
): Map<string, JsonValue> | undefined {
  const scanner = new JsonScanner(withSentinel(bytes));
  const isObject = scanner.peek() === Byte.OPEN_OBJECT;
  const entries = new Map<string, JsonValue>();
  const parse = (start: number) =>
    parseJson(decodeText(scanner.bytes.subarray(start, scanner.position)));
  if (!isObject) {
    scanner.skipValue();
  } else if (scanner.enter(Byte.CLOSE_OBJECT)) {
    do {
      scanner.peek();
      const start = scanner.position;
      scanner.skipString();
      const key = parse(start) as string;
      scanner.expect(Byte.COLON);
      scanner.peek();
      const valueStart = scanner.position;
      scanner.skipValue();
      entries.set(key, parse(valueStart));
    } while (scanner.next(Byte.CLOSE_OBJECT));
  }
  scanner.finish();
  return isObject ? entries : undefined;
}
