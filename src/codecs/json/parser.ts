import { DEEPEST, JsonError } from "./scanner.ts";

/** As many digits as Python reads by default: more take time beyond proportion. */
const MOST_DIGITS = 4300;

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const WORD = /true|false|null|NaN|-?Infinity/y;

const WORDS: Record<string, boolean | number | null> = {
  true: true,
  false: false,
  null: null,
  NaN: NaN,
  Infinity: Infinity,
  "-Infinity": -Infinity,
};

/** Values that every reader makes alike. */
type Scalar = null | boolean | number | bigint | string;

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
  readonly #makers: JsonMakers<Value | Scalar | (Value | Scalar)[]>;
  #at = 0;
  #depth = 0;

  constructor(
    text: string,
    makers: JsonMakers<Value | Scalar | (Value | Scalar)[]>,
  ) {
    this.#text = text;
    this.#makers = makers;
  }

  /** @throws {JsonError} If the text is not JSON as Python reads it; the offset counts UTF-16 units. */
  parse(): Value {
    const value = this.#value(this.#next());
    this.#skipBlanks();
    if (this.#at < this.#text.length) this.#fail("something follows its end");
    return value as Value;
  }

  #skipBlanks(): void {
    const text = this.#text;
    for (;;) {
      const unit = text.charCodeAt(this.#at);
      const isBlank = unit === 0x20 || unit === 0x0a || unit === 0x0d ||
        unit === 0x09;
      if (!isBlank) return;
      this.#at++;
    }
  }

  /** Moves over blanks and returns the character behind them. */
  #next(): string {
    this.#skipBlanks();
    return this.#text[this.#at] ?? this.#fail("it ends early");
  }

  /** @param first The character that it starts with. */
  #value(first: string): Value | Scalar | (Value | Scalar)[] {
    switch (first) {
      case '"':
        return this.#string();
      case "[":
      case "{": {
        if (++this.#depth > DEEPEST) {
          this.#fail(`it is nested more than ${DEEPEST} levels deep`);
        }
        this.#at++;
        const value = first === "[" ? this.#list() : this.#object();
        this.#depth--;
        return value;
      }
      default:
        return this.#number() ?? this.#word();
    }
  }

  #list(): (Value | Scalar)[] {
    const items: (Value | Scalar)[] = [];
    let first = this.#next();
    if (first === "]") {
      this.#at++;
      return items;
    }
    for (;;) {
      items.push(this.#value(first) as Value | Scalar);
      if (!this.#another("]")) return items;
      first = this.#next();
    }
  }

  #object(): Value | Scalar | (Value | Scalar)[] {
    const entries: [string, Value | Scalar | (Value | Scalar)[]][] = [];
    let first = this.#next();
    if (first === "}") this.#at++;
    else {
      do {
        first = this.#next();
        if (first !== '"') this.#fail("a key is missing");
        const key = this.#string();
        if (this.#next() !== ":") this.#fail("':' is missing");
        this.#at++;
        entries.push([key, this.#value(this.#next())]);
      } while (this.#another("}"));
    }
    return this.#makers.object(entries);
  }

  /** Moves over what stands behind an item, and tells whether another follows. */
  #another(close: string): boolean {
    const mark = this.#next();
    if (mark !== close && mark !== ",") {
      this.#fail(`',' or '${close}' is missing`);
    }
    this.#at++;
    return mark === ",";
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

  #number(): Value | Scalar | (Value | Scalar)[] | undefined {
    NUMBER.lastIndex = this.#at;
    const found = NUMBER.exec(this.#text);
    if (found === null) return undefined;
    const [token, fraction, exponent] = found;
    this.#at += token.length;
    const number = Number(token);
    if (fraction !== undefined || exponent !== undefined) {
      return this.#makers.float(number);
    }
    if (Number.isSafeInteger(number)) return number + 0; // -0 is the integer 0
    if (token.length > MOST_DIGITS) {
      this.#fail(`an integer of ${token.length} digits`);
    }
    return BigInt(token);
  }

  #word(): Scalar {
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0];
    if (word === undefined) this.#fail("a value is missing");
    this.#at += word.length;
    return WORDS[word]!;
  }

  #fail(what: string): never {
    throw new JsonError(this.#at, what);
  }
}
