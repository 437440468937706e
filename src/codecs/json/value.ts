import { DEEPEST, JsonScanner, withSentinel } from "./scanner.ts";
import { JsonError } from "./json_error.ts";

/** What JSON becomes; an integer beyond 2^53 is a `bigint`. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** As many digits as Python reads by default: more take time beyond proportion. */
const MOST_DIGITS = 4300;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** What `JSON.parse` reads differently from Python: long integers, and the words for no numbers. */
const BEYOND_JSON_PARSE = /(?<![\d.])\d{16}|NaN|Infinity/;

/**
 * Parses JSON as Python does: `NaN`, `Infinity` and `-Infinity` are numbers, integers are exact.
 *
 * @throws {JsonError} If it is none; the offset counts UTF-16 units.
 */
export function parseJson(text: string): JsonValue {
  if (!BEYOND_JSON_PARSE.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below says where it is wrong.
    }
  }
  return new Parser(text).parse();
}

/** Blanks, and a token that is no string. */
const BLANKS = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const WORD = /true|false|null|NaN|-?Infinity/y;

const WORDS: Record<string, JsonValue> = {
  true: true,
  false: false,
  null: null,
  NaN: NaN,
  Infinity: Infinity,
  "-Infinity": -Infinity,
};

/** A reader by tokens; it calls itself for nested values, which the depth limits. */
class Parser {
  readonly #text: string;
  #at = 0;
  #punctuation: string | undefined;
  #value: JsonValue = null;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): JsonValue {
    this.#advance();
    const value = this.#parseValue();
    this.#match(BLANKS);
    if (this.#at < this.#text.length) this.#fail("something follows its end");
    return value;
  }

  /** Reads a token: a punctuation mark, or a scalar value. */
  #advance(): void {
    this.#match(BLANKS);
    const char = this.#text[this.#at] ?? this.#fail("it ends early");
    this.#punctuation = undefined;
    if ("[]{}:,".includes(char)) {
      this.#punctuation = char;
      this.#at++;
    } else if (char === '"') this.#value = this.#string();
    else {
      const word = this.#match(WORD);
      if (word !== undefined) this.#value = WORDS[word]!;
      else this.#value = this.#number();
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #parseValue(): JsonValue {
    if (this.#punctuation === undefined) return this.#value;
    if (++this.#depth > DEEPEST) {
      this.#fail(`it is nested more than ${DEEPEST} levels deep`);
    }
    const value = this.#punctuation === "["
      ? this.#list()
      : this.#punctuation === "{"
      ? this.#object()
      : this.#fail("a value is missing");
    this.#depth--;
    return value;
  }

  #list(): JsonValue[] {
    const items: JsonValue[] = [];
    this.#advance();
    if (this.#punctuation === "]") return items;
    for (;;) {
      items.push(this.#parseValue());
      if (!this.#another("]")) return items;
    }
  }

  #object(): { [key: string]: JsonValue } {
    const entries: [string, JsonValue][] = [];
    this.#advance();
    if (this.#punctuation !== "}") {
      do {
        const key = this.#value;
        if (this.#punctuation !== undefined || typeof key !== "string") {
          this.#fail("a key is missing");
        }
        this.#advance();
        if (this.#punctuation !== ":") this.#fail("':' is missing");
        this.#advance();
        entries.push([key, this.#parseValue()]);
      } while (this.#another("}"));
    }
    return Object.fromEntries(entries); // "__proto__" is a key like others
  }

  #another(close: string): boolean {
    this.#advance();
    if (this.#punctuation === close) return false;
    if (this.#punctuation !== ",") this.#fail(`',' or '${close}' is missing`);
    this.#advance();
    return true;
  }

  #string(): string {
    const start = this.#at;
    for (let end = start;;) {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) this.#fail("it ends inside a string");
      let escapes = 0;
      while (this.#text[end - 1 - escapes] === "\\") escapes++;
      if (escapes % 2 === 1) continue;
      this.#at = end + 1;
      break;
    }
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      this.#fail("a string holds what it must not");
    }
  }

  #number(): number | bigint {
    const token = this.#match(NUMBER) ?? this.#fail("a value is missing");
    const number = Number(token);
    if (Number.isSafeInteger(number) || /[.eE]/.test(token)) return number;
    if (token.length > MOST_DIGITS) {
      this.#fail(`an integer of ${token.length} digits`);
    }
    return BigInt(token);
  }

  #fail(what: string): never {
    throw new JsonError(this.#at, what);
  }
}

/**
 * Parses the bytes of a JSON file, all of it checked first: also how deep it is nested.
 *
 * @throws {JsonError} If it is none.
 */
export function parseJsonFile(bytes: Uint8Array): JsonValue {
  const scanner = new JsonScanner(withSentinel(bytes));
  scanner.skipValue();
  scanner.finish();
  return parseJson(decodeText(bytes));
}

/**
 * The text of JSON.
 *
 * @throws {JsonError} If it is not UTF-8.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new JsonError(0, "its text is not UTF-8");
  }
}
