import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { fillNow, fillSync, readElsewhere } from "./read_part.ts";

/** Bytes of a window of what has to be fetched: each is one request, and they begin where multiples of it do. */
const FAR_WINDOW = 8 << 20;
/** Bytes that are fetched behind a content that was passed over: the next one may be as large. */
const FAR_PROBE = 1 << 16;
/** Windows that are fetched ahead. */
const FAR_AHEAD = 2;

/** The same of what is on a disk or in memory. */
const NEAR_WINDOW = 1 << 18;
const NEAR_PROBE = 1 << 12;

/** Sizes of contents from which on they are passed over: nothing of them is read. */
const FAR_LARGE = FAR_WINDOW;
const NEAR_LARGE = 1 << 15;

/** Windows after which the event loop gets its turn, if it is due. */
const TURN = 64;

/** Reads headers that lie between contents: of small contents these are read as well, in one go. */
export class HeadWindows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #source: ByteSource;
  readonly #least: number;
  readonly #isFar: boolean;
  #start = 0;
  #end = 0;
  #count = 0;

  /**
   * Nothing is read yet.
   *
   * @param unit The memory has a multiple of so many bytes.
   * @param least A window that would end before so many bytes ends elsewhere: a header goes on there.
   */
  constructor(source: ByteSource, unit: number, least: number) {
    this.#source = source;
    this.#least = least;
    this.#isFar = source.readAtSync === undefined;
    const most = this.#isFar ? FAR_WINDOW : NEAR_WINDOW;
    const size = Math.ceil(source.size / unit) * unit;
    this.bytes = new Uint8Array(Math.max(unit, Math.min(most, size)));
  }

  /** Where so many bytes of the source lie in {@linkcode HeadWindows.bytes}, or -1 where they are not there. */
  find(offset: number, length: number): number {
    return offset >= this.#start && offset + length <= this.#end
      ? offset - this.#start
      : -1;
  }

  /**
   * Reads the bytes from a header on, at least all of it.
   *
   * @param passed Size of the content before it, or `undefined` at the start.
   */
  *move(offset: number, passed: number | undefined): Steps<void> {
    const length = this.#isFar
      ? this.#farLength(offset, passed === undefined || passed > FAR_LARGE)
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
    if (this.#isFar) yield* this.#fetch(into, offset);
    else yield* this.#readNear(into, offset);
    this.#end = offset + into.length;
  }

  *#readNear(into: Uint8Array, offset: number): Steps<void> {
    if (++this.#count % TURN === 0) yield* perform(yieldWhenDue);
    yield* fillNow(this.#source, into, offset);
  }

  #farLength(offset: number, isProbe: boolean): number {
    const end = (Math.floor(offset / FAR_WINDOW) + 1) * FAR_WINDOW;
    const isNear = end - offset < this.#least;
    return isProbe || isNear ? FAR_PROBE : end - offset;
  }

  *#fetch(into: Uint8Array, offset: number): Steps<void> {
    const source = this.#source;
    const end = offset + into.length;
    if (end % FAR_WINDOW === 0) {
      for (let next = 0; next < FAR_AHEAD; next++) {
        const start = end + next * FAR_WINDOW;
        if (start < source.size) source.expect?.(start, FAR_WINDOW);
      }
    }
    yield* perform({
      sync: () => void fillSync(source, into, offset, false),
      async: (signal) => readElsewhere(source, into, offset, signal, false),
    });
  }
}
