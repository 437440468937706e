/** Bytes of a window of what has to be fetched: each is one request, and they begin where multiples of it do. */
export const FAR_WINDOW = 8 << 20;
/** Bytes of a header that is fetched alone at least, and at most: what lies behind it may be small. */
const LEAST_PROBE = 1 << 13;
const MOST_PROBE = 1 << 16;
/** The first piece that shows how quickly bytes come; the next ones are larger. */
const FIRST_PIECE = 1 << 18;
const GROWTH = 8;

/** Contents from this size on may be passed over: stores charge for requests, and a window has dozens of smaller ones. */
const LARGE = 1 << 18;
/** Contents from this size on are. */
const PASSED_OVER = FAR_WINDOW;
/** Headers that are fetched alone before anything is said of how long one takes: the quickest of the last ones. */
const FIRST_PROBES = 2;
const LAST_PROBES = 4;
/** What was there already takes less, in milliseconds, and says nothing. */
const FETCHED = 0.3;
/** Of the time of a header, what the bytes behind it may cost. */
const BEHIND = 0.1;
/** Of the time that headers take, what is spent to see whether bytes come quicker by now. */
const LOOKING = 0.1;
/** How much quicker headers alone have to be, which are many more requests; and where windows are under way. */
const QUICKER = 1.4;
const MUCH_QUICKER = 1.7;
/** Windows after which is known how long they take, where several are under way. */
const FIRST_WINDOWS = 3;
/** Bytes that the mean size of contents is of, more or less. */
const MEMORY = 64 << 20;

/**
 * Says how much is to be fetched at a header of a source that is far away: headers alone, or all that lies between them
 * as well, whichever is quicker by the latency and rate that the pieces before have shown.
 */
export class FarHeaders {
  /** What lies before headers: bytes, and how often it was large. */
  #bytes = 0;
  #large = 0;
  #last = 0;
  /** Milliseconds that headers have taken; and all of them since it was looked how quickly bytes come. */
  #probes: number[] = [];
  #probing = 0;
  /** The last piece that says how quickly bytes come, and whether it was waited for as a header alone is. */
  #measured:
    | { readonly bytes: number; readonly ms: number; readonly isAlone: boolean }
    | undefined;
  #piece = FIRST_PIECE;
  /** Windows that follow the first one, with those ahead of them under way: since when, and how many bytes. */
  #following: { since: number; windows: number; bytes: number } | undefined;
  #isProbe = false;
  /** Whether nothing has been fetched: the request that opened the source has brought its beginning. */
  #isFirst = true;

  /** Notes where a header is, of which there may be several in what was fetched. */
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

  /** How many bytes to fetch from a header on; those of a window end where the next one begins. */
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
    // No block is fetched for some of its bytes.
    return Math.ceil((offset + length) / LEAST_PROBE) * LEAST_PROBE - offset;
  }

  /** Notes how long it took to fetch so many bytes, in milliseconds. */
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
      // A short one says nothing.
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

  /** Whether the next window is worth to be fetched ahead. */
  get isFollowing(): boolean {
    return this.#following !== undefined;
  }

  /** How long a header alone takes: rather little, but not what one took that was there already. */
  get #probe(): number {
    const all = this.#probes.toSorted((a, b) => a - b);
    return all[Math.floor((all.length - 1) / 2)] ?? Infinity;
  }

  /** How long a byte takes once it is waited for. */
  get #msPerByte(): number | undefined {
    if (this.#measured === undefined) return undefined;
    const { bytes, ms, isAlone } = this.#measured;
    return (isAlone ? Math.max(ms - this.#probe, ms / 10) : ms) / bytes;
  }

  #isQuickerWhole(): boolean {
    const size = this.#bytes / this.#large; // infinite where none was large
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
