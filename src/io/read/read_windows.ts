import type { ByteSource } from "../storage/byte_source.ts";
import { type DirectReads, FileSource } from "../storage/file_source.ts";
import { shouldYield, yieldToEventLoop } from "../concurrency/event_loop.ts";
import { readElsewhere } from "./read_part.ts";
import { blockMemory, MEMORY_PAGE } from "../libc/new_memory.ts";

/** Window size of reads by another thread. */
const WINDOW = 1 << 20;
/** Bytes that this thread reads from the page cache at a time, so that they stay in the CPU's nearest cache. */
const AT_HAND = 1 << 18;
/** Windows read ahead. Servers and disks need several requests in flight. */
const MOST_AHEAD = 3;
/** The same if the system reads ahead as well. */
const LEAST_AHEAD = 1;

interface Window {
  readonly source: ByteSource;
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly read: Promise<void>;
}

/**
 * Reads sources sequentially, once. Takes what is in the page cache from there, and has other threads read the rest
 * ahead in windows. Where possible these bypass the page cache, which takes longer to fill than to do without, and
 * holds data that others need.
 */
export class ReadWindows {
  readonly #signal: AbortSignal | undefined;
  readonly #memory = windowMemory();
  #now: Window | undefined;
  /** Windows being read ahead, in order and without gaps. */
  #ahead: Window[] = [];
  #direct: DirectReads | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Returns at most `length` bytes at an offset, as far as they are in the current window. */
  peek(source: ByteSource, offset: number, length: number): Uint8Array {
    return this.#now === undefined
      ? NOTHING
      : part(this.#now, source, offset, length);
  }

  /** Reads a window that contains the given offset. The previous window becomes invalid. */
  async move(source: ByteSource, offset: number): Promise<void> {
    this.#now = undefined;
    let next = this.#ahead.shift();
    if (next !== undefined && part(next, source, offset, 1).length === 0) {
      await next.read.catch(() => {});
      next = undefined;
    }
    if (next === undefined) {
      await this.end();
      while (shouldYield()) await yieldToEventLoop();
      this.#signal?.throwIfAborted();
      this.#now = this.#atHand(source, offset);
      if (this.#now !== undefined) return;
      if (source instanceof FileSource) {
        this.#direct = source.openDirect();
      }
      const inBlock = this.#direct === undefined ? 0 : offset % MEMORY_PAGE;
      next = this.#start(source, offset - inBlock);
    }
    this.#goAhead(next);
    await next.read;
    this.#now = next;
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#ahead.map(({ read }) => read));
    this.#ahead = [];
    this.#direct?.close();
    this.#direct = undefined;
  }

  #atHand(source: ByteSource, start: number): Window | undefined {
    const memory = this.#memory[0]!.subarray(0, AT_HAND); // always the same memory, which stays in the CPU cache
    const got = source.readCached?.(memory, start) ?? 0;
    return got === 0
      ? undefined
      : { source, start, bytes: memory.subarray(0, got), read: READ };
  }

  #goAhead(next: Window): void {
    const isSystems = next.source.readCached !== undefined &&
      this.#direct === undefined;
    const most = isSystems ? LEAST_AHEAD : MOST_AHEAD;
    while (this.#ahead.length < most) {
      const { source, start, bytes } = this.#ahead.at(-1) ?? next;
      const end = start + bytes.length;
      if (end >= source.size || isInMemory(source, end)) return;
      this.#ahead.push(this.#start(source, end));
    }
  }

  #start(source: ByteSource, start: number): Window {
    const memory = this.#room();
    const bytes = memory.subarray(0, source.size - start);
    const read = this.#read(source, memory, bytes, start);
    read.catch(() => {}); // move() reports the error
    return { source, start, bytes, read };
  }

  #room(): Uint8Array<ArrayBuffer> {
    const window = this.#memory.shift()!;
    this.#memory.push(window);
    return window;
  }

  async #read(
    source: ByteSource,
    memory: Uint8Array<ArrayBuffer>,
    bytes: Uint8Array,
    start: number,
  ): Promise<void> {
    const got = await this.#direct?.readAt(memory, start) ?? 0;
    if (got >= bytes.length) return;
    // The usual read completes the window, or reports why it cannot.
    await readElsewhere(source, bytes, start, this.#signal);
  }
}

/** Whether a file's window is in the page cache, from which it is read faster later. */
function isInMemory(source: ByteSource, start: number): boolean {
  if (!(source instanceof FileSource)) return false;
  const last = Math.min(start + WINDOW, source.size) - 1;
  return source.readCached(probe, start) > 0 &&
    source.readCached(probe, last) > 0;
}

const probe = new Uint8Array(1);

function part(
  window: Window,
  source: ByteSource,
  offset: number,
  length: number,
): Uint8Array {
  const start = offset - window.start;
  return window.source === source && start >= 0
    ? window.bytes.subarray(start, start + length)
    : NOTHING;
}

function windowMemory(): Uint8Array<ArrayBuffer>[] {
  const count = 1 + MOST_AHEAD;
  const memory = blockMemory(count * WINDOW);
  return Array.from(
    { length: count },
    (_, i) => memory.subarray(i * WINDOW, (i + 1) * WINDOW),
  );
}

const NOTHING = new Uint8Array(0);
const READ = Promise.resolve();
