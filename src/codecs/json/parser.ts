import { DEEPEST, JsonError } from "./scanner.ts";

/** Python's default limit of an integer's digits: converting more takes superlinear time. */
const MOST_DIGITS = 4300;

/** Blanks, then punctuation, a string's opening quote, another token, or the end. */
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

export interface JsonMakers<Value> {
  float(number: number): Value;
  /** Of a repeated key, the last value counts, in the first's position. */
  object(entries: [string, Value][]): Value;
}

/** Recursive-descent parser; a depth limit bounds the recursion. */
export class JsonParser<Value> {
  readonly #text: string;
  readonly #makers: JsonMakers<Value>;
  /** Start and end of the last token. */
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
    if (this.#next() !== "") this.#fail("more follows after its end");
    return value;
  }

  /** Next token; empty at the end. */
  #next(): string {
    this.#at = TOKEN.lastIndex = this.#end;
    const token = TOKEN.exec(this.#text)![1]!;
    this.#end = TOKEN.lastIndex;
    if (token === '"') return this.#quoted(this.#end - 1);
    this.#at = this.#end - token.length;
    return token;
  }

  /** Raw string token, with its quotes. */
  #quoted(start: number): string {
    this.#at = start;
    // Not a regular expression: it saves state for each escape, and overflows on a long string.
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

  /** @param token First token of the value. */
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

  /** Parses a list or object after its opening bracket; calls `item` with the first token of each part. */
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
      this.#fail("a string has a control character or an invalid escape");
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
