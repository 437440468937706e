import { isUtf8 } from "node:buffer";
import {
  Byte,
  JsonError,
  JsonScanner,
  withSentinel,
} from "../../codecs/json/scanner.ts";
import {
  type DisplayLimits,
  type Leaves,
  numberOf,
  type ShownTree,
} from "../api/display.ts";
import { type TreePart, WHOLE_TREE } from "../api/tree_part.ts";
import type { Display } from "../api/value_messages.ts";
import { cutTree, type TreeWalker } from "./cut_tree.ts";

/** UTF-8 byte order mark, which some programs write. */
const ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Converts JSON for display. All of the text is validated, but only the part shown becomes values: 16 MiB of brackets
 * take no more memory than their bytes.
 *
 * @param bytes The text, in UTF-8. `NaN` and `Infinity` are accepted, as Python writes them.
 * @throws {JsonError} If it is not JSON, or nested too deep.
 */
export function shownJson(
  bytes: Uint8Array,
  limits: DisplayLimits,
  part: TreePart = WHOLE_TREE,
): ShownTree | undefined {
  if (!isUtf8(bytes)) throw new JsonError(0, "its text is not UTF-8");
  const start = ORDER_MARK.every((byte, i) => bytes[i] === byte) ? 3 : 0;
  const text = withSentinel(bytes.subarray(start));
  return cutTree(() => new JsonWalker(text), limits, part);
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

class JsonWalker implements TreeWalker {
  readonly #scanner: JsonScanner;

  constructor(text: Uint8Array) {
    this.#scanner = new JsonScanner(text);
  }

  container(): "list" | "map" | undefined {
    const byte = this.#scanner.peek();
    if (byte === Byte.OPEN_LIST) return "list";
    return byte === Byte.OPEN_OBJECT ? "map" : undefined;
  }

  pass(end: number, visit: (index: number, isKey: boolean) => void): number {
    const scanner = this.#scanner;
    const isList = scanner.peek() === Byte.OPEN_LIST;
    let length = 0;
    scanner.pass(isList ? Byte.CLOSE_LIST : Byte.CLOSE_OBJECT, () => {
      const index = length++;
      if (index >= end) {
        if (!isList) scanner.skipKey();
        return scanner.skipValue();
      }
      if (!isList) {
        if (scanner.peek() !== Byte.QUOTE) scanner.fail("a string is missing");
        visit(index, true);
        scanner.expect(Byte.COLON);
      }
      visit(index, false);
    });
    return length;
  }

  leaf(leaves: Leaves, from: number | undefined): Display {
    const scanner = this.#scanner;
    const isText = scanner.peek() === Byte.QUOTE;
    const start = scanner.position;
    scanner.skipValue();
    const word = utf8.decode(scanner.bytes.subarray(start, scanner.position));
    if (isText) {
      const text: string = scanner.escaped
        ? JSON.parse(word)
        : word.slice(1, -1);
      return leaves.text(text, from);
    }
    switch (word) {
      case "null":
        return null;
      case "true":
        return true;
      case "false":
        return false;
    }
    const number = Number(word); // also `NaN`, `Infinity` and `-Infinity`
    const isExact = Number.isSafeInteger(number) || !/^-?\d+$/.test(word);
    return isExact ? numberOf(number) : leaves.digits(word, from);
  }

  skip(): void {
    this.#scanner.skipValue();
  }

  finish(): void {
    this.#scanner.finish();
  }
}
