import { DEEPEST, JsonError } from "./scanner.ts";

/** As many digits as Python reads by default: more take time beyond proportion. */
const MOST_DIGITS = 4300;

/** Blanks, and a mark, the quote that begins a string, something else, or the end. */
const TOKEN = /[ \t\n\r]*([[\]{},:"]|[^ \t\n\r"[\]{},:]+|$)/y;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

/** Makers of floats and objects. */
export interface JsonMakers<Value> {
  /** A number that was written with a point or an exponent. */
  float(number: number): Value;
  /** An object; a key that comes again counts, at the place of the first. */
  object(entries: [string, Value][]): Value;
}

/** A reader by tokens; it calls itself for nested values, which the depth limits. */
export class JsonParser<Value> {
  readonly #text: string;
  readonly #makers: JsonMakers<Value>;
  /** Place of the token that was read last, and of what follows it. */
  #at = 0;
  #end = 0;
  #depth = 0;

  constructor(text: string, makers: JsonMakers<Value>) {
    this.#text = text;
    this.#makers = makers;
  }

  /** @throws {JsonError} If the text is not JSON as Python reads it; the offset counts UTF-16 units. */
  parse(): Value {
    const value = this.#value(this.#next());
    if (this.#next() !== "") this.#fail("something follows its end");
    return value;
  }

  /** The next token; nothing at the end. */
  #next(): string {
    this.#at = TOKEN.lastIndex = this.#end;
    const token = TOKEN.exec(this.#text)![1]!;
    this.#end = TOKEN.lastIndex;
    if (token === '"') return this.#quoted(this.#end - 1);
    this.#at = this.#end - token.length;
    return token;
  }

  /** A string as it is written, with its quotes. */
  #quoted(start: number): string {
    this.#at = start;
    // Not by an expression: it keeps a place for each escape, and a long string has more than it may keep.
    for (let quote = start;;) {
      quote = this.#text.indexOf('"', quote + 1);
      if (quote < 0) this.#fail("it ends inside a string");
      let before = quote - 1;
      while (this.#text[before] === "\\") before--;
      if ((quote - before) % 2 === 0) continue; // it is escaped
      this.#end = quote + 1;
      return this.#text.slice(start, this.#end);
    }
  }

  /** @param token Its first one. */
  #value(token: string): Value {
    switch (token[0]) {
      case '"':
        return this.#string(token) as Value;
      case "[": {
        const items: Value[] = [];
        this.#pass("]", (first) => items.push(this.#value(first)));
        return items as Value;
      }
      case "{": {
        const entries: [string, Value][] = [];
        this.#pass("}", (first) => {
          if (first[0] !== '"') this.#fail("a key is missing");
          const key = this.#string(first);
          if (this.#next() !== ":") this.#fail("':' is missing");
          entries.push([key, this.#value(this.#next())]);
        });
        return this.#makers.object(entries);
      }
    }
    return WORDS.has(token) ? WORDS.get(token) as Value : this.#number(token);
  }

  /** Goes through a list or an object, behind its bracket: `item` over each part, from its first token. */
  #pass(close: string, item: (first: string) => void): void {
    if (++this.#depth > DEEPEST) {
      this.#fail(`it is nested more than ${DEEPEST} levels deep`);
    }
    let token = this.#next();
    if (token !== close) {
      for (item(token);; item(this.#next())) {
        token = this.#next();
        if (token === close) break;
        if (token !== ",") this.#fail(`',' or '${close}' is missing`);
      }
    }
    this.#depth--;
  }

  #string(token: string): string {
    try {
      return JSON.parse(token);
    } catch {
      this.#fail("a string holds what it must not");
    }
  }

  #number(token: string): Value {
    const found = NUMBER.exec(token);
    if (found === null) this.#fail("a value is missing");
    const [, fraction, exponent] = found;
    const number = Number(token);
    if (fraction !== undefined || exponent !== undefined) {
      return this.#makers.float(number);
    }
    if (Number.isSafeInteger(number)) return number + 0 as Value; // -0 is the integer 0
    if (token.length > MOST_DIGITS) {
      this.#fail(`an integer of ${token.length} digits`);
    }
    return BigInt(token) as Value;
  }

  #fail(what: string): never {
    const isEnd = this.#at === this.#text.length;
    throw new JsonError(this.#at, isEnd ? "it ends early" : what);
  }
}
