/** Bytes that are not JSON as Python reads it. */
export class JsonError extends SyntaxError {
  override name = "JsonError";
  /** Byte offset at which reading stopped. */
  readonly offset: number;

  /** @param what Reason: continues "… is not JSON: ". */
  constructor(offset: number, what: string) {
    super(`${what} (byte ${offset})`);
    this.offset = offset;
  }
}

export const Byte = {
  QUOTE: 0x22,
  PLUS: 0x2b,
  COMMA: 0x2c,
  MINUS: 0x2d,
  POINT: 0x2e,
  ZERO: 0x30,
  COLON: 0x3a,
  OPEN_LIST: 0x5b,
  BACKSLASH: 0x5c,
  CLOSE_LIST: 0x5d,
  OPEN_OBJECT: 0x7b,
  CLOSE_OBJECT: 0x7d,
} as const;

/** Nesting limit, the default of Python's own reader. */
export const DEEPEST = 1000;

/** `NaN` and `Infinity` are not JSON, but Python writes and reads them. */
const LITERALS = ["true", "false", "null", "NaN", "Infinity"].map((word) =>
  new TextEncoder().encode(word)
);

/**
 * Validating scanner over JSON in memory, which creates no strings or objects. Accepts what Python's `json.load`
 * accepts.
 *
 * A zero byte must follow the text: it belongs to no token, so that loops end there without bounds checks.
 */
export class JsonScanner {
  readonly bytes: Uint8Array;
  /** Offset of the next token, or of blanks before it. */
  position = 0;
  /** Whether the last skipped string has escapes. */
  escaped = false;
  /** Whether any string so far has non-ASCII bytes, so that the encoding matters. */
  beyondAscii = false;
  readonly #kinds = new Uint8Array(DEEPEST);

  /** @param bytes The text and a zero byte. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get end(): number {
    return this.bytes.length - 1;
  }

  /** Skips blanks and returns the next byte: 0 at the end of the text. */
  peek(): number {
    const bytes = this.bytes;
    let at = this.position;
    let byte = bytes[at]!;
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      byte = bytes[++at]!;
    }
    this.position = at;
    return byte;
  }

  /** Skips blanks and one given byte. */
  expect(byte: number): void {
    if (this.peek() !== byte) {
      this.fail(`'${String.fromCharCode(byte)}' is missing`);
    }
    this.position++;
  }

  /** Skips the comma or closing byte after an item; returns whether another item follows. */
  next(close: number): boolean {
    const byte = this.peek();
    if (byte !== Byte.COMMA && byte !== close) {
      this.fail(`',' or '${String.fromCharCode(close)}' is missing`);
    }
    this.position++;
    return byte === Byte.COMMA;
  }

  /** Enters a list or object at its opening byte; skips it and returns `false` if it is empty. */
  enter(close: number): boolean {
    this.position++;
    if (this.peek() !== close) return true;
    this.position++;
    return false;
  }

  /** Skips a list or object from its opening byte; `item` must skip each part. */
  pass(close: number, item: () => void): void {
    if (!this.enter(close)) return;
    do item(); while (this.next(close));
  }

  /** Fails unless only blanks remain. */
  finish(): void {
    this.peek();
    if (this.position < this.end) this.fail("more follows after its end");
  }

  /** Skips the string that starts here, with its quotes. */
  skipString(): void {
    const bytes = this.bytes;
    if (this.peek() !== Byte.QUOTE) this.fail("a string is missing");
    let at = this.position + 1;
    let all = 0;
    this.escaped = false;
    for (;;) {
      const byte = bytes[at]!;
      if (byte === Byte.QUOTE) break;
      if (byte === Byte.BACKSLASH) {
        this.escaped = true;
        at = this.#skipEscape(at);
        continue;
      }
      if (byte < 0x20) {
        this.position = at;
        this.fail("a string has a control character");
      }
      all |= byte;
      at++;
    }
    this.position = at + 1;
    if (all >= 0x80) this.beyondAscii = true;
  }

  /** Skips a number, and returns whether it is written as an integer. */
  skipNumber(): boolean {
    const bytes = this.bytes;
    let at = this.position;
    if (bytes[at] === Byte.MINUS) at++;
    if (bytes[at] === Byte.ZERO) at++;
    else at = this.#skipDigits(at);
    let integer = true;
    if (bytes[at] === Byte.POINT) {
      integer = false;
      at = this.#skipDigits(at + 1);
    }
    if ((bytes[at]! | 0x20) === 0x65) { // e, E
      integer = false;
      at++;
      if (bytes[at] === Byte.PLUS || bytes[at] === Byte.MINUS) at++;
      at = this.#skipDigits(at);
    }
    this.position = at;
    return integer;
  }

  /** Skips one value of any kind. */
  skipValue(): void {
    const kinds = this.#kinds;
    let depth = 0;
    for (;;) {
      const byte = this.peek();
      let open = false;
      if (byte === Byte.OPEN_LIST || byte === Byte.OPEN_OBJECT) {
        if (depth === DEEPEST) {
          this.fail(`it is nested more than ${DEEPEST} levels deep`);
        }
        const close = byte + 2; // closing = opening + 2 in ASCII
        kinds[depth++] = close;
        open = this.enter(close);
        if (!open) depth--;
        else if (close === Byte.CLOSE_OBJECT) this.skipKey();
      } else this.#skipScalar(byte);
      if (open) continue;
      while (depth > 0) {
        const close = kinds[depth - 1]!;
        if (this.next(close)) {
          if (close === Byte.CLOSE_OBJECT) this.skipKey();
          break;
        }
        depth--;
      }
      if (depth === 0) return;
    }
  }

  /** Skips a key and the colon after it. */
  skipKey(): void {
    this.skipString();
    this.expect(Byte.COLON);
  }

  fail(what: string): never {
    throw new JsonError(
      this.position,
      this.position >= this.end ? "it ends early" : what,
    );
  }

  #skipScalar(byte: number): void {
    if (byte === Byte.QUOTE) return this.skipString();
    if (byte === Byte.MINUS && this.bytes[this.position + 1] === 0x49) { // -I
      this.position++;
      return this.#skipLiteral(0x49);
    }
    if (byte === Byte.MINUS || byte >= 0x30 && byte <= 0x39) {
      this.skipNumber();
      return;
    }
    this.#skipLiteral(byte);
  }

  #skipLiteral(first: number): void {
    const literal = LITERALS.find((word) => word[0] === first);
    if (literal === undefined) this.fail("a value is missing");
    const at = this.position;
    for (let i = 0; i < literal.length; i++) {
      if (this.bytes[at + i] === literal[i]) continue;
      this.position = at + i;
      this.fail("a value is missing");
    }
    this.position = at + literal.length;
  }

  #skipDigits(from: number): number {
    let at = from;
    while (isDigit(this.bytes[at]!)) at++;
    if (at > from) return at;
    this.position = at;
    this.fail("a digit is missing");
  }

  /** @param at Offset of the backslash. */
  #skipEscape(at: number): number {
    const kind = this.bytes[at + 1]!;
    // The characters  " / \ b f n r t
    const simple = kind === 0x22 || kind === 0x2f || kind === 0x5c ||
      kind === 0x62 || kind === 0x66 || kind === 0x6e || kind === 0x72 ||
      kind === 0x74;
    if (simple) return at + 2;
    if (kind !== 0x75) { // u
      this.position = at + 1;
      this.fail("a string has an unknown escape");
    }
    for (let i = at + 2; i < at + 6; i++) {
      const byte = this.bytes[i]!;
      const letter = byte | 0x20;
      if (isDigit(byte) || letter >= 0x61 && letter <= 0x66) continue;
      this.position = i;
      this.fail("an escape in a string lacks hexadecimal digits");
    }
    return at + 6;
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Copies a text and appends the zero byte that a {@linkcode JsonScanner} needs. */
export function withSentinel(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length + 1);
  copy.set(bytes);
  return copy;
}
