import type { EntryFile } from "../../directories/entries.ts";
import { TrustedDirectory } from "../../directories/trusted_directory.ts";

/** What was done with an object of the cache, by all processes and over all its life. */
export interface ObjectCounts {
  /** Bytes that were fetched. */
  readonly bytes: number;
  /** Requests to its server. */
  readonly requests: number;
  /** Those of them that were made because one before had failed. */
  readonly retries: number;
  /** Reads whose bytes were there. */
  readonly hits: number;
}

/** What is counted, in the order in which the file has it: each 64-bit floating point. */
const KINDS = ["bytes", "requests", "retries", "hits"] as const;
const SIZE = KINDS.length * Float64Array.BYTES_PER_ELEMENT;
/** Of an object's directory. */
const FILE = "counts";
/** How often what was counted is added to the file, in milliseconds; the rest at the end. */
const EVERY = 2000;
/** Attempts to add at the end, a millisecond apart: others who do so take microseconds, unless they are stopped. */
const TRIES = 1000;

/** All that count in this process, and what adds for all of them. */
const counting = new Set<ObjectCounter>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Counts what one process does with an object, in memory, and adds it to a file from time to time: under a lock, by one
 * short write, so that a process that is killed loses only what it has not added. Counting never fails.
 */
export class ObjectCounter {
  /** Reads whose bytes were there, in memory that threads share: each adds to it. */
  readonly hits: Uint32Array<SharedArrayBuffer> = new Uint32Array(
    new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT),
  );
  readonly #open: () => TrustedDirectory | undefined;
  readonly #counts = { bytes: 0, requests: 0, retries: 0 };

  /**
   * @param path The object's directory, which there is until this is closed.
   * @param open Opens it.
   */
  constructor(path: string, open = () => openOwn(path)) {
    this.#open = open;
    counting.add(this);
    if (timer !== undefined) return;
    timer = setInterval(() => {
      for (const counter of counting) counter.#add();
    }, EVERY);
    timer.unref(); // a program may end
  }

  /** A request is sent. */
  asked(): void {
    this.#counts.requests++;
  }

  /** One has failed, and is sent again. */
  retried(): void {
    this.#counts.retries++;
  }

  /** So many bytes have come. */
  fetched(bytes: number): void {
    this.#counts.bytes += bytes;
  }

  /** Takes what was counted before there was an object: of the request that opened it. */
  take(opening: { requests: number; retries: number; bytes: number }): void {
    this.#counts.requests += opening.requests;
    this.#counts.retries += opening.retries;
    this.#counts.bytes += opening.bytes;
    Object.assign(opening, { requests: 0, retries: 0, bytes: 0 });
  }

  /** A read found its bytes there. */
  hit(): void {
    Atomics.add(this.hits, 0, 1);
  }

  /** Adds what has been counted to the file, and ends. */
  close(): void {
    if (!counting.delete(this)) return;
    if (counting.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    const never = new Int32Array(new SharedArrayBuffer(4));
    for (let left = TRIES; left > 0 && !this.#add(); left--) {
      Atomics.wait(never, 0, 0, 1);
    }
  }

  /** @returns Whether there is nothing more to add. */
  #add(): boolean {
    const { bytes, requests, retries } = this.#counts;
    const hits = Atomics.load(this.hits, 0);
    if (bytes + requests + retries + hits === 0) return true;
    try {
      if (!addTo(this.#open, { bytes, requests, retries, hits })) return false;
    } catch {
      return true; // the disk is full or failing, which whoever keeps blocks is told
    }
    Object.assign(this.#counts, { bytes: 0, requests: 0, retries: 0 });
    Atomics.sub(this.hits, 0, hits);
    return true;
  }
}

/** Adds to a file, which is made where there is none; not where another is just doing so. */
function addTo(
  open: () => TrustedDirectory | undefined,
  more: ObjectCounts,
): boolean {
  using directory = open();
  if (directory === undefined) return true; // it was deleted
  using file = directory.makeFile(FILE);
  if (!file.tryLock(true)) return false;
  const counts = countsIn(file);
  const sums = Float64Array.from(KINDS, (kind) => counts[kind] + more[kind]);
  file.write(new Uint8Array(sums.buffer), 0);
  return true;
}

/**
 * What the file of an object's directory has; nothing where there is none, or it is damaged.
 *
 * @param open Opens the directory.
 */
export function readCounts(
  path: string,
  open = () => openOwn(path),
): ObjectCounts {
  try {
    using directory = open();
    using file = directory?.openFile(FILE, "read");
    return countsIn(file);
  } catch {
    return countsIn(undefined);
  }
}

function openOwn(path: string): TrustedDirectory | undefined {
  return TrustedDirectory.open(path, { isShared: false }, false);
}

function countsIn(file: EntryFile | undefined): ObjectCounts {
  const counts = { bytes: 0, requests: 0, retries: 0, hits: 0 };
  const slots = new Float64Array(KINDS.length);
  const got = file?.read(new Uint8Array(slots.buffer), 0);
  if (got !== SIZE) return counts;
  for (const [i, kind] of KINDS.entries()) {
    const count = slots[i]!;
    if (Number.isSafeInteger(count) && count >= 0) counts[kind] = count;
  }
  return counts;
}
