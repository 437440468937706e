import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FAR_WINDOW, FarHeaders } from "./far_headers.ts";
import { fillNow, fillSync, readElsewhere, readPart } from "./read_part.ts";

/** Windows to prefetch from remote sources. */
const FAR_AHEAD = 2;

/** Window size for local sources, and bytes read behind a skipped content. */
const NEAR_WINDOW = 1 << 18;
const NEAR_PROBE = 1 << 12;
/** Larger contents of local sources are skipped without reading them. */
const NEAR_LARGE = 1 << 15;

/** Windows between yields to the event loop. */
const TURN = 64;

/**
 * Reads headers that lie between contents. Small contents are read along with them, in one go; in remote sources only
 * if that is faster ({@linkcode FarHeaders}).
 */
export class HeadWindows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #source: ByteSource;
  readonly #least: number;
  readonly #far: FarHeaders | undefined;
  #start = 0;
  #end = 0;
  #count = 0;

  /**
   * @param unit The buffer is a multiple of this size.
   * @param least Smallest window, because a header may continue behind its end.
   */
  constructor(source: ByteSource, unit: number, least: number) {
    this.#source = source;
    this.#least = least;
    this.#far = source.readAtSync === undefined ? new FarHeaders() : undefined;
    const most = this.#far === undefined ? NEAR_WINDOW : FAR_WINDOW;
    const size = Math.ceil(source.size / unit) * unit;
    this.bytes = new Uint8Array(Math.max(unit, Math.min(most, size)));
  }

  /** Returns the position of a range of the source in {@linkcode HeadWindows.bytes}, or -1 if it is not there. */
  find(offset: number, length: number): number {
    this.#far?.passed(offset);
    return offset >= this.#start && offset + length <= this.#end
      ? offset - this.#start
      : -1;
  }

  /**
   * Reads a header of any length, whose bytes are valid until the next read.
   *
   * @param passed Size of the content before it, or `undefined` at the start.
   */
  *read(
    offset: number,
    length: number,
    passed: number | undefined,
  ): Steps<Uint8Array> {
    let at = this.find(offset, length);
    if (at < 0 && length > this.#least) {
      return yield* readPart(this.#source, offset, length);
    }
    if (at < 0) {
      yield* this.move(offset, passed);
      at = 0;
    }
    return this.bytes.subarray(at, at + length);
  }

  /** Reads at least a whole header. `passed` is the size of the content before it, or `undefined` at the start. */
  *move(offset: number, passed: number | undefined): Steps<void> {
    const far = this.#far;
    const length = far !== undefined
      ? far.lengthAt(offset, this.#least)
      : passed !== undefined && passed > NEAR_LARGE
      ? NEAR_PROBE
      : NEAR_WINDOW;
    const { size } = this.#source;
    const { bytes } = this;
    const into = bytes.subarray(
      0,
      Math.min(length, size - offset, bytes.length),
    );
    this.#start = offset;
    this.#end = offset; // until it has been read
    if (far !== undefined) yield* this.#fetch(far, into, offset);
    else yield* this.#readNear(into, offset);
    this.#end = offset + into.length;
  }

  *#readNear(into: Uint8Array, offset: number): Steps<void> {
    if (++this.#count % TURN === 0) yield* perform(yieldWhenDue);
    yield* fillNow(this.#source, into, offset);
  }

  *#fetch(
    far: FarHeaders,
    into: Uint8Array<ArrayBuffer>,
    offset: number,
  ): Steps<void> {
    const source = this.#source;
    const end = offset + into.length;
    if (far.isFollowing && end % FAR_WINDOW === 0) {
      for (let next = 0; next < FAR_AHEAD; next++) {
        const start = end + next * FAR_WINDOW;
        if (start < source.size) source.prefetch?.(start, FAR_WINDOW);
      }
    }
    const begun = performance.now();
    yield* perform({
      sync: () => void fillSync(source, into, offset, false),
      async: (signal) => readElsewhere(source, into, offset, signal, false),
    });
    const now = performance.now();
    far.took(into.length, now - begun, now);
  }
}
