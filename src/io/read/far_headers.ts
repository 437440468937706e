/** Window size for remote sources. Each window is one request and starts at a multiple of this size. */
export const FAR_WINDOW = 8 << 20;
/** Smallest and largest probe: a header fetched alone. What follows it may be small. */
const LEAST_PROBE = 1 << 13;
const MOST_PROBE = 1 << 16;
/** First piece that measures the transfer rate. The next ones are larger. */
const FIRST_PIECE = 1 << 18;
const GROWTH = 8;

/** Contents from this size may be skipped. Stores charge per request, and a window has dozens of smaller contents. */
const LARGE = 1 << 18;
/** Above this mean size, contents are always skipped. */
const PASSED_OVER = FAR_WINDOW;
/** Probes needed before their latency is estimated, and number of recent ones that the estimate uses. */
const FIRST_PROBES = 2;
const LAST_PROBES = 4;
/** Faster probes, in milliseconds, hit a cache and are not measured. */
const FETCHED = 0.3;
/** Fraction of a probe's time that the extra bytes behind the header may cost. */
const BEHIND = 0.1;
/** Fraction of the time spent on probes that may go into measuring the transfer rate again. */
const LOOKING = 0.1;
/** Factor by which probes must be faster, because they are more requests; the second while windows are in flight. */
const QUICKER = 1.4;
const MUCH_QUICKER = 1.7;
/** Windows after which their rate is known, with several in flight. */
const FIRST_WINDOWS = 3;
/** Approximate number of bytes over which the mean content size is taken. */
const MEMORY = 64 << 20;

/**
 * Decides how much of a remote source to fetch at a header: headers alone, or everything between them as well,
 * whichever is faster by the latency and transfer rate measured so far.
 */
export class FarHeaders {
  /** Bytes between headers, and number of large gaps. */
  #bytes = 0;
  #large = 0;
  #last = 0;
  /** Recent probe latencies in milliseconds, and their total since the transfer rate was last measured. */
  #probes: number[] = [];
  #probing = 0;
  /** Last measurement of the transfer rate. If `isAlone`, its time includes the latency, as a probe's does. */
  #measured:
    | { readonly bytes: number; readonly ms: number; readonly isAlone: boolean }
    | undefined;
  #piece = FIRST_PIECE;
  /** Windows after the first one, with prefetching: start time, count and bytes. */
  #following: { since: number; windows: number; bytes: number } | undefined;
  #isProbe = false;
  /** Whether nothing was fetched yet. The request that opened the source brought its beginning. */
  #isFirst = true;

  /** Records the offset of a header. One fetch may contain several. */
  passed(offset: number): void {
    const before = offset - this.#last;
    if (before <= 0) return;
    this.#last = offset;
    this.#bytes += before;
    if (before > LARGE) this.#large++;
    if (this.#bytes < MEMORY) return;
    this.#bytes /= 2;
    this.#large /= 2;
  }

  /** Returns how many bytes to fetch from a header on. A window ends where the next one starts. */
  lengthAt(offset: number, least: number): number {
    const isWhole = this.#isQuickerWhole();
    const end = (Math.floor(offset / FAR_WINDOW) + 1) * FAR_WINDOW;
    const isWindow = isWhole && this.#piece >= FAR_WINDOW &&
      end - offset >= least;
    this.#isProbe = !isWhole;
    if (isWindow) return end - offset;
    this.#following = undefined;
    const length = isWhole
      ? Math.min(this.#piece, FAR_WINDOW)
      : Math.max(least, this.#probeLength());
    // Ends at a block boundary, so that no block is fetched in part.
    return Math.ceil((offset + length) / LEAST_PROBE) * LEAST_PROBE - offset;
  }

  /** Records how long a fetch took, in milliseconds. */
  took(bytes: number, ms: number, now: number): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (this.#isProbe) {
      if (isFirst || ms < FETCHED) return;
      this.#probes.push(ms);
      if (this.#probes.length > LAST_PROBES) this.#probes.shift();
      this.#probing += ms;
      return;
    }
    this.#probing = 0;
    const following = this.#following;
    if (following === undefined) {
      // Short pieces do not measure the rate.
      if (bytes >= FIRST_PIECE) this.#measured = { bytes, ms, isAlone: true };
      if (this.#piece < FAR_WINDOW) return;
      this.#following = { since: now, windows: 0, bytes: 0 };
      return;
    }
    following.bytes += bytes;
    if (++following.windows < FIRST_WINDOWS) return;
    this.#measured = {
      bytes: following.bytes,
      ms: now - following.since,
      isAlone: false,
    };
  }

  /** Whether the next window should be prefetched. */
  get isFollowing(): boolean {
    return this.#following !== undefined;
  }

  /** Latency of a probe: the lower median of recent ones, which outliers from a cache do not distort. */
  get #probe(): number {
    const all = this.#probes.toSorted((a, b) => a - b);
    return all[Math.floor((all.length - 1) / 2)] ?? Infinity;
  }

  /** Time per byte, without latency. */
  get #msPerByte(): number | undefined {
    if (this.#measured === undefined) return undefined;
    const { bytes, ms, isAlone } = this.#measured;
    return (isAlone ? Math.max(ms - this.#probe, ms / 10) : ms) / bytes;
  }

  #isQuickerWhole(): boolean {
    const size = this.#bytes / this.#large; // infinite if none was large
    if (this.#large === 0) {
      if (this.#last === 0) return false;
      this.#piece = FAR_WINDOW;
      return true;
    }
    if (size > PASSED_OVER || this.#probes.length < FIRST_PROBES) return false;
    const msPerByte = this.#msPerByte;
    const next = msPerByte === undefined
      ? FIRST_PIECE
      : Math.min(GROWTH * this.#piece, FAR_WINDOW);
    if (msPerByte !== undefined) {
      const factor = this.isFollowing ? MUCH_QUICKER : QUICKER;
      const isQuicker = size * msPerByte <= factor * this.#probe;
      const isToLook = this.#probing * LOOKING > this.#probe + next * msPerByte;
      if (!isQuicker && !isToLook) return false;
    }
    this.#piece = next;
    return true;
  }

  #probeLength(): number {
    const msPerByte = this.#msPerByte;
    if (msPerByte === undefined) {
      return this.#bytes >= PASSED_OVER * this.#large
        ? MOST_PROBE
        : LEAST_PROBE / 8;
    }
    const cheap = BEHIND * this.#probe / msPerByte;
    return Math.min(Math.max(LEAST_PROBE / 8, cheap), MOST_PROBE);
  }
}
