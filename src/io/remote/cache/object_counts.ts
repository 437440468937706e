import type { EntryFile } from "../../dirfd/entries.ts";
import { TrustedDirectory } from "../../dirfd/trusted_directory.ts";

/** Lifetime counts of a cached object, of all processes. */
export interface ObjectCounts {
  readonly bytes: number;
  readonly requests: number;
  /** Requests that repeated a failed one. */
  readonly retries: number;
  /** Reads that hit the cache. */
  readonly hits: number;
}

/** The counts in file order, each 64-bit floating point. */
const KINDS = ["bytes", "requests", "retries", "hits"] as const;
const SIZE = KINDS.length * Float64Array.BYTES_PER_ELEMENT;
const FILE = "counts";
/** Interval in milliseconds of adding to the file; the rest is added at the end. */
const EVERY = 2000;
/** Attempts to add at the end, a millisecond apart. Others hold the lock for microseconds, unless they are stopped. */
const TRIES = 1000;

/** All counters of this process, and the timer that adds for all of them. */
const counting = new Set<ObjectCounter>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Counts what one process does with an object, in memory, and adds it to a file periodically: under a lock, by one
 * short write, so that a killed process loses only what it has not added yet. Counting never fails.
 */
export class ObjectCounter {
  /** Reads that hit the cache, in memory that threads share and add to. */
  readonly hits: Uint32Array<SharedArrayBuffer> = new Uint32Array(
    new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT),
  );
  readonly #open: () => TrustedDirectory | undefined;
  readonly #counts = { bytes: 0, requests: 0, retries: 0 };

  /** @param path The object's directory, which must exist until the counter is closed. */
  constructor(path: string, open = () => openOwn(path)) {
    this.#open = open;
    counting.add(this);
    if (timer !== undefined) return;
    timer = setInterval(() => {
      for (const counter of counting) counter.#add();
    }, EVERY);
    timer.unref(); // do not keep the program alive
  }

  asked(): void {
    this.#counts.requests++;
  }

  retried(): void {
    this.#counts.retries++;
  }

  fetched(bytes: number): void {
    this.#counts.bytes += bytes;
  }

  /** Adds the counts of the request that opened the object, and resets them. */
  take(opening: { requests: number; retries: number; bytes: number }): void {
    this.#counts.requests += opening.requests;
    this.#counts.retries += opening.retries;
    this.#counts.bytes += opening.bytes;
    Object.assign(opening, { requests: 0, retries: 0, bytes: 0 });
  }

  hit(): void {
    Atomics.add(this.hits, 0, 1);
  }

  /** Adds the counts to the file, and ends. */
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

  /** @returns Whether nothing is left to add. */
  #add(): boolean {
    const { bytes, requests, retries } = this.#counts;
    const hits = Atomics.load(this.hits, 0);
    if (bytes + requests + retries + hits === 0) return true;
    try {
      if (!addTo(this.#open, { bytes, requests, retries, hits })) return false;
    } catch {
      return true; // the disk is full or failing; storing blocks warns about that
    }
    Object.assign(this.#counts, { bytes: 0, requests: 0, retries: 0 });
    Atomics.sub(this.hits, 0, hits);
    return true;
  }
}

/** Adds to the file, creating it if it is missing. Returns `false` if another process holds its lock. */
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

/** Reads the counts in an object's directory, which `open` opens; zeros if they are missing or damaged. */
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
