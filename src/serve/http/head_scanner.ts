const START = 0;
const EMPTY_LINE = 1;
const BEHIND_EMPTY_LINE = 2;
const METHOD = 3;
const TARGET_START = 4;
const TARGET = 5;
/** One state per character of `HTTP/`. */
const PROTOCOL = 6;
const MAJOR = 11;
const DOT = 12;
const MINOR = 13;
const LINE_END = 14;
const LINE_FEED = 15;
const LINE = 16;
const NAME = 17;
const VALUE = 18;
const LAST_LINE_FEED = 19;
const DONE = 20;
const WRONG = 21;

const CR = [0x0d];
const LF = [0x0a];

/** Transition table: 256 next states per state. */
const NEXT = nextStates();

/**
 * Finds the end of a request's head incrementally, and detects invalid input (garbage, bare line feeds, NULs) at once
 * (RFC 9112, 2 to 5). Accepts the same syntax as {@linkcode RequestHead}.
 */
export class HeadScanner {
  #state = START;

  /** Scans bytes. Returns the end of the head, behind its empty line; 0 if incomplete, -1 if invalid. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    let state = this.#state;
    for (let i = start; i < end; i++) {
      state = NEXT[state << 8 | bytes[i]!]!;
      if (state < DONE) continue;
      this.#state = START;
      return state === DONE ? i + 1 : -1;
    }
    this.#state = state;
    return 0;
  }
}

function nextStates(): Uint8Array {
  const table = new Uint8Array(DONE << 8).fill(WRONG);
  const go = (from: number, bytes: readonly number[], to: number) => {
    for (const byte of bytes) table[from << 8 | byte] = to;
  };
  const token = bytesThat(/[!#$%&'*+.^_`|~0-9A-Za-z-]/);
  const visible = bytesThat(/[\x21-\x7e\x80-\xff]/);
  const digit = bytesThat(/[0-9]/);
  const space = bytesThat(/ /);
  // Some clients send an empty line after a body (RFC 9112, 2.2).
  go(START, CR, EMPTY_LINE);
  go(EMPTY_LINE, LF, BEHIND_EMPTY_LINE);
  go(START, token, METHOD);
  go(BEHIND_EMPTY_LINE, token, METHOD);
  go(METHOD, token, METHOD);
  go(METHOD, space, TARGET_START);
  go(TARGET_START, visible, TARGET);
  go(TARGET, visible, TARGET);
  go(TARGET, space, PROTOCOL);
  for (const [i, byte] of [0x48, 0x54, 0x54, 0x50, 0x2f].entries()) {
    go(PROTOCOL + i, [byte], PROTOCOL + i + 1);
  }
  go(MAJOR, digit, DOT);
  go(DOT, bytesThat(/\./), MINOR);
  go(MINOR, digit, LINE_END);
  go(LINE_END, CR, LINE_FEED);
  go(LINE_FEED, LF, LINE);
  go(LINE, token, NAME);
  go(NAME, token, NAME);
  go(NAME, bytesThat(/:/), VALUE);
  go(VALUE, bytesThat(/[\t\x20-\x7e\x80-\xff]/), VALUE);
  go(VALUE, CR, LINE_FEED);
  go(LINE, CR, LAST_LINE_FEED);
  go(LAST_LINE_FEED, LF, DONE);
  return table;
}

function bytesThat(match: RegExp): number[] {
  return Array.from({ length: 256 }, (_, byte) => byte)
    .filter((byte) => match.test(String.fromCharCode(byte)));
}
