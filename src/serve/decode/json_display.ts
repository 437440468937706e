import { isUtf8 } from "node:buffer";
import {
  Byte,
  JsonError,
  JsonScanner,
  withSentinel,
} from "../../codecs/json/scanner.ts";
import {
  type DisplayLimits,
  mark,
  numberOf,
  shownKey,
  type ShownTree,
} from "../api/display.ts";
import type { Display } from "../api/value_messages.ts";

/** Bytes of a byte order mark, which some programs put before a text. */
const ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * A text of JSON for display: all of it is checked, and only what is shown of it becomes values, so that 16 MiB of
 * brackets take no more memory than their bytes.
 *
 * @param bytes The text, in UTF-8. `NaN` and `Infinity` are numbers, as Python writes them.
 * @throws {JsonError} If it is not JSON, or nests too deep.
 */
export function shownJson(bytes: Uint8Array, limits: DisplayLimits): ShownTree {
  if (!isUtf8(bytes)) throw new JsonError(0, "its text is not UTF-8");
  const start = ORDER_MARK.every((byte, i) => bytes[i] === byte) ? 3 : 0;
  const reader = new Reader(withSentinel(bytes.subarray(start)), limits);
  return reader.read();
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

class Reader {
  readonly #scanner: JsonScanner;
  readonly #limits: DisplayLimits;
  #left: number;
  #depth = 0;
  #isCut = false;

  constructor(bytes: Uint8Array, limits: DisplayLimits) {
    this.#scanner = new JsonScanner(bytes);
    this.#limits = limits;
    this.#left = limits.values;
  }

  read(): ShownTree {
    const value = this.#value();
    this.#scanner.finish();
    return { value, isCut: this.#isCut };
  }

  #value(): Display {
    const scanner = this.#scanner;
    this.#left--;
    const byte = scanner.peek();
    const isList = byte === Byte.OPEN_LIST;
    if (!isList && byte !== Byte.OPEN_OBJECT) return this.#scalar(byte);
    if (this.#depth >= this.#limits.depth) {
      scanner.skipValue();
      this.#isCut = true;
      return mark({ $: "deep" });
    }
    this.#depth++;
    const shown = isList ? this.#list() : this.#object();
    this.#depth--;
    return shown;
  }

  #list(): Display {
    const shown: Display[] = [];
    let length = 0;
    this.#scanner.pass(Byte.CLOSE_LIST, () => {
      length++;
      if (this.#left > 0) shown.push(this.#value());
      else this.#scanner.skipValue();
    });
    return this.#cut(shown, shown.length, length);
  }

  #object(): Display {
    const scanner = this.#scanner;
    const shown: [string, Display][] = [];
    let length = 0;
    scanner.pass(Byte.CLOSE_OBJECT, () => {
      length++;
      if (this.#left <= 0) {
        scanner.skipKey();
        scanner.skipValue();
        return;
      }
      const key = shownKey(this.#text(), this.#limits);
      scanner.expect(Byte.COLON);
      shown.push([key, this.#value()]);
    });
    // Which takes `__proto__` for a key; of keys that come again, the last value counts.
    return this.#cut(Object.fromEntries(shown), shown.length, length);
  }

  #scalar(byte: number): Display {
    const scanner = this.#scanner;
    if (byte === Byte.QUOTE) {
      const text = this.#text();
      const most = this.#limits.text;
      if (text.length <= most) return text;
      this.#isCut = true;
      const part = text.slice(0, most).toWellFormed();
      return mark({ $: "cut", shown: part, length: text.length });
    }
    const start = scanner.position;
    scanner.skipValue();
    const word = this.#slice(start);
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
    return isExact ? numberOf(number) : this.#digits(word);
  }

  /** A whole number beyond those that are exact. */
  #digits(digits: string): Display {
    const { text } = this.#limits;
    if (digits.length <= text) return mark({ $: "integer", digits });
    this.#isCut = true;
    return mark({ $: "integer", digits: `${digits.slice(0, text)}…` });
  }

  /** The string that comes next. */
  #text(): string {
    const scanner = this.#scanner;
    scanner.peek();
    const start = scanner.position;
    scanner.skipString();
    const text = this.#slice(start);
    return scanner.escaped ? JSON.parse(text) : text.slice(1, -1);
  }

  #slice(start: number): string {
    const { bytes, position } = this.#scanner;
    return utf8.decode(bytes.subarray(start, position));
  }

  #cut(shown: Display, count: number, length: number): Display {
    if (count === length) return shown;
    this.#isCut = true;
    return mark({ $: "cut", shown, length });
  }
}
