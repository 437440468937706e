import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { fill, fillSync, readElsewhere } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { FRAME } from "../layout.ts";

/** Bytes of a window of what has to be fetched: each is one request, and they begin where multiples of it do. */
const FAR_WINDOW = 8 << 20;
/** Bytes that are fetched behind a record that was passed over: the next one may be as large. */
const FAR_PROBE = 1 << 16;
/** Windows that are fetched ahead. */
const FAR_AHEAD = 2;

/** The same of what is on a disk or in memory. */
const NEAR_WINDOW = 1 << 18;
const NEAR_PROBE = 1 << 12;

/** Sizes of records from which on they are passed over: nothing of them is read. */
const FAR_LARGE = FAR_WINDOW;
const NEAR_LARGE = 1 << 15;

/** Windows after which the event loop gets its turn, if it is due. */
const TURN = 64;

/** Reads what lies between the data of records: of small records all is read, in one go. */
export class RecordWindows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView;
  readonly #source: ByteSource;
  readonly #isFar: boolean;
  #start = 0;
  #end = 0;
  #count = 0;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#isFar = source.readAtSync === undefined;
    const most = this.#isFar ? FAR_WINDOW : NEAR_WINDOW;
    this.bytes = new Uint8Array(Math.max(FRAME, Math.min(most, source.size)));
    this.view = new DataView(this.bytes.buffer);
  }

  /** Where so many bytes of the file lie in {@linkcode RecordWindows.bytes}, or -1 where they are not there. */
  find(offset: number, length: number): number {
    return offset >= this.#start && offset + length <= this.#end
      ? offset - this.#start
      : -1;
  }

  /**
   * Reads the bytes from a place on, at least a frame of them where there are so many.
   *
   * @param passed Size of the record before it, or `undefined` at the start.
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
    // What is at hand needs no step of its own, which would cost as much as reading it.
    const got = this.#source.readCached?.(into, offset) ?? 0;
    if (got < into.length) {
      yield* fill(this.#source, into.subarray(got), offset + got);
    }
  }

  #farLength(offset: number, isProbe: boolean): number {
    const end = (Math.floor(offset / FAR_WINDOW) + 1) * FAR_WINDOW;
    const isNear = end - offset < FRAME; // a frame that goes on
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
