import type { ByteSource } from "../storage/byte_source.ts";
import { readElsewhere } from "./read_part.ts";

/** Bytes of a window: two of them stay in a processor's cache. */
const WINDOW = 1 << 20;

/** A part of a source that is being read, or was. */
interface Window {
  readonly source: ByteSource;
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly read: Promise<void>;
}

/**
 * Reads sources that are gone through from front to back: while one window is looked at, another thread reads the
 * next one. Elsewhere than there they are read as well, only not ahead.
 */
export class ReadWindows {
  readonly #signal: AbortSignal | undefined;
  #spare = new Uint8Array(WINDOW);
  #memory = new Uint8Array(WINDOW);
  /** What is looked at. */
  #now: Window | undefined;
  #next: Window | undefined;

  /** @param signal Ends the waiting. */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /**
   * The bytes at a place, as far as they are in the window that was read last: none unless it is in there.
   *
   * @param length How many are wanted at most.
   */
  peek(source: ByteSource, offset: number, length: number): Uint8Array {
    const now = this.#now;
    const start = offset - (now?.start ?? 0);
    return now?.source === source && start >= 0
      ? now.bytes.subarray(start, start + length)
      : NOTHING;
  }

  /**
   * Reads the window that starts at a place in its source; what was there before is gone.
   *
   * @throws {FormatError} If the source ends before its size says so.
   */
  async move(source: ByteSource, start: number): Promise<void> {
    this.#now = undefined;
    const ahead = this.#next;
    this.#next = undefined;
    const isRight = ahead?.source === source && ahead.start === start;
    if (ahead !== undefined && !isRight) await ahead.read.catch(() => {});
    const now = isRight ? ahead : this.#start(source, start);
    await now.read;
    this.#now = now;
    const end = start + now.bytes.length;
    if (end < source.size) this.#next = this.#start(source, end);
  }

  /** Waits until nothing is read any more. */
  async end(): Promise<void> {
    await this.#next?.read.catch(() => {});
  }

  #start(source: ByteSource, start: number): Window {
    const memory = this.#spare;
    this.#spare = this.#memory;
    this.#memory = memory;
    const bytes = memory.subarray(0, source.size - start);
    const read = readElsewhere(source, bytes, start, this.#signal);
    read.catch(() => {}); // whoever moves there is told
    return { source, start, bytes, read };
  }
}

const NOTHING = new Uint8Array(0);
