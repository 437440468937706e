import { FormatError } from "../../base/errors.ts";
import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { fillNow } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { DecodeError, type Decoder, WINDOW } from "./decoder.ts";
import type { Method } from "./methods.ts";

/** Encoded bytes read at a time. */
const INPUT = 1 << 18;
/** Decoded bytes returned at a time, at most. */
const OUTPUT = 1 << 20;

/** Where decoding of a stream can begin. */
export interface Checkpoint {
  /** Number of encoded bytes before it, including one of which only some bits are consumed. */
  readonly packed: number;
  /** Number of bits of the last of these bytes that are not consumed. */
  readonly spareBits: number;
  /** Decoded bytes before it that what follows refers to; empty at the start of a member. */
  readonly window: Uint8Array;
}

export const STREAM_START: Checkpoint = {
  packed: 0,
  spareBits: 0,
  window: new Uint8Array(0),
};

/** Decodes a stream, member after member, from a checkpoint on. */
export class MemberReader {
  readonly #source: ByteSource;
  readonly #method: Method;
  readonly #from: Checkpoint;
  /** Decoded bytes after which {@linkcode MemberReader.next} stops where decoding can begin. */
  interval: number;
  #decoder: Decoder | undefined;
  #isInMember = false;
  /** Bytes behind the current member that its decoder does not consume. */
  #trailer = 0;
  #memory = new Uint8Array(0);
  #input = new Uint8Array(0);
  #inputStart: number;
  #inputDone = 0;
  /** Up to {@linkcode WINDOW} bytes that were returned before, and those to return. */
  #output = new Uint8Array(0);
  #filled = 0;
  #sinceCheckpoint = 0;
  #checkpoint: Checkpoint | undefined;
  /** Bytes behind the last member that are not part of the stream. */
  junk = 0;

  /**
   * @param interval Defaults to any number of bytes.
   */
  constructor(
    source: ByteSource,
    method: Method,
    from = STREAM_START,
    interval = Infinity,
  ) {
    this.#source = source;
    this.#method = method;
    this.#from = from;
    this.interval = interval;
    this.#inputStart = from.packed;
  }

  /** Number of encoded bytes consumed. */
  get packed(): number {
    return this.#inputStart + this.#inputDone;
  }

  /** Checkpoint at the end of what was returned last, if the interval has passed and there is one. */
  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  /**
   * Decodes further.
   *
   * @returns Decoded bytes, possibly none, valid until the next call; `undefined` at the end of the stream.
   * @throws {FormatError} If the stream is damaged or truncated.
   */
  *next(): Steps<Uint8Array | undefined> {
    if (this.#output.length === 0) {
      this.#output = new Uint8Array(WINDOW + OUTPUT);
    }
    this.#checkpoint = undefined;
    // What was returned last is no longer used.
    const from = Math.max(0, this.#filled - WINDOW);
    this.#output.copyWithin(0, from, this.#filled);
    const start = this.#filled - from;
    let filled = start;
    let isOver = false;
    while (filled < start + OUTPUT) {
      if (!this.#isInMember) {
        isOver = !(yield* this.#beginMember());
        if (isOver) break;
      }
      const into = this.#output.subarray(filled, start + OUTPUT);
      const written = yield* this.#step(into);
      filled += written;
      this.#sinceCheckpoint += written;
      if (this.#sinceCheckpoint < this.interval) continue;
      const window = this.#output.subarray(
        Math.max(0, filled - WINDOW),
        filled,
      );
      const checkpoint = this.#here(window);
      if (checkpoint === undefined) continue;
      this.#checkpoint = checkpoint;
      this.#sinceCheckpoint = 0;
      break;
    }
    this.#filled = filled;
    return isOver && filled === start
      ? undefined
      : this.#output.subarray(start, filled);
  }

  /**
   * Decodes exactly the bytes that follow.
   *
   * @throws {FormatError} If the stream is damaged, or ends before.
   */
  *fill(into: Uint8Array): Steps<void> {
    let done = 0;
    while (done < into.length) {
      if (!this.#isInMember && !(yield* this.#beginMember())) {
        throw this.#fault("truncated-data", "it ends too early");
      }
      done += yield* this.#step(into.subarray(done, done + OUTPUT));
    }
  }

  /**
   * Decodes up to an encoded byte, which must be the end of a part: so that checksums behind its last byte are compared.
   *
   * @throws {FormatError} If anything more is decoded.
   */
  *endAt(packed: number): Steps<void> {
    const more = new Uint8Array(1);
    while (this.packed < packed) {
      if (!this.#isInMember && !(yield* this.#beginMember())) break;
      if ((yield* this.#step(more, packed)) === 0) continue;
      throw this.#fault("bad-structure", "it has more than its table says");
    }
  }

  close(): void {
    this.#decoder?.close();
    this.#decoder = undefined;
  }

  #here(window: Uint8Array): Checkpoint | undefined {
    const { packed } = this;
    if (!this.#isInMember) {
      return { packed: packed + this.#trailer, spareBits: 0, window: NOTHING };
    }
    const { spareBits } = this.#decoder!;
    if (spareBits === undefined) return undefined;
    return { packed, spareBits, window: window.slice() };
  }

  /** Decodes once, not beyond an encoded byte, and returns the number of bytes written to `into`. */
  *#step(into: Uint8Array, end = Infinity): Steps<number> {
    yield* perform(yieldWhenDue);
    const decoder = this.#decoder!;
    yield* this.#moreInput(1);
    const input = this.#input.subarray(this.#inputDone)
      .subarray(0, end - this.packed);
    const isLast = this.packed + input.length >= this.#source.size;
    try {
      decoder.step(input, into, isLast);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw error.isTooLarge
        ? this.#fault("unsupported", error.message, error)
        : this.#fault("bad-structure", error.message, error);
    }
    this.#inputDone += decoder.read;
    const { written } = decoder;
    if (decoder.isEnd) this.#isInMember = false;
    else if (isLast && decoder.read === input.length && written < into.length) {
      throw this.#fault("truncated-data", "it is truncated");
    } else if (decoder.read === 0 && written === 0 && input.length > 0) {
      throw this.#fault("bad-structure", "it makes no progress");
    }
    return written;
  }

  /** Begins the next member. Returns `false` at the end of the stream. */
  *#beginMember(): Steps<boolean> {
    if (this.#decoder === undefined && this.#from.window.length > 0) {
      yield* this.#resume();
      return true;
    }
    yield* this.#skipTrailer();
    const method = this.#method;
    for (;;) {
      const head = yield* this.#moreInput(method.longestMagic);
      if (head.length === 0) return false;
      const padding = method.paddingOf(head);
      if (padding > 0) {
        this.#inputDone += padding;
        continue;
      }
      if (method.isMember(head, this.#decoder === undefined)) break;
      this.junk = this.#source.size - this.packed;
      return false;
    }
    if (this.#decoder === undefined) this.#decoder = method.decoder();
    else this.#decoder.reset();
    this.#isInMember = true;
    return true;
  }

  *#resume(): Steps<void> {
    const { packed, spareBits, window } = this.#from;
    const last = new Uint8Array(1);
    if (spareBits > 0) yield* fillNow(this.#source, last, packed - 1);
    this.#decoder = this.#method.decoder({
      window,
      bits: spareBits,
      value: last[0]! >> 8 - spareBits,
    });
    this.#trailer = this.#method.trailer;
    this.#isInMember = true;
  }

  *#skipTrailer(): Steps<void> {
    while (this.#trailer > 0) {
      const rest = yield* this.#moreInput(1);
      if (rest.length === 0) {
        throw this.#fault("truncated-data", "it is truncated");
      }
      const skipped = Math.min(this.#trailer, rest.length);
      this.#inputDone += skipped;
      this.#trailer -= skipped;
    }
  }

  /** Returns what follows: at least so many bytes, or all. */
  *#moreInput(least: number): Steps<Uint8Array> {
    const rest = this.#input.subarray(this.#inputDone);
    if (rest.length >= least) return rest;
    const start = this.#inputStart + this.#input.length;
    const length = Math.min(INPUT, this.#source.size - start);
    if (length <= 0) return rest;
    if (this.#memory.length === 0) {
      // What is left of the input is shorter than a magic.
      this.#memory = new Uint8Array(INPUT + this.#method.longestMagic);
    }
    const input = this.#memory.subarray(0, rest.length + length);
    input.set(rest);
    yield* fillNow(this.#source, input.subarray(rest.length), start);
    this.#inputStart += this.#inputDone;
    this.#input = input;
    this.#inputDone = 0;
    return input;
  }

  #fault(
    code: "bad-structure" | "truncated-data" | "unsupported",
    why: string,
    cause?: unknown,
  ): FormatError {
    const { name } = this.#source;
    const offset = this.packed;
    const hint = code === "unsupported"
      ? `Decompress it (${this.#method.compression.command}), and open that`
      : "Download it again";
    return new FormatError(
      code,
      `Cannot decompress ${name} (${this.#method.compression.name}) at byte ${offset}: ${why}. ${hint}`,
      { path: name, offset, cause },
    );
  }
}

const NOTHING = new Uint8Array(0);
