import { IdHash, sameBytes } from "./id_hash.ts";
import {
  FrameColumns,
  type MetaColumns,
  type MetaPlace,
  sharedFloat64,
  sharedUint32,
  sharedUint8,
} from "./meta_columns.ts";

/** The ids of a chunk's videos, in one run of bytes, and how to find one. */
export interface VideoIds {
  readonly bytes: Uint8Array;
  /** Per video, and once more: where its id starts in `bytes`. */
  readonly starts: Uint32Array;
  readonly hash: IdHash;
}

/**
 * Collects what a `.gmeta` says, video by video: first the id, then the frames, then
 * {@linkcode endVideo}.
 *
 * An id that comes again replaces what was said of it, at its first place, as in a Python dict.
 */
export class MetaBuilder {
  readonly frames: FrameColumns;
  #ids = new Uint8Array(1024);
  #idsLength = 0;
  #starts = [0];
  readonly #hash = new IdHash((row, bytes, start, end) =>
    sameBytes(
      this.#ids,
      this.#starts[row]!,
      this.#starts[row + 1]!,
      bytes,
      start,
      end,
    )
  );
  readonly #firstFrames: number[] = [];
  readonly #frameCounts: number[] = [];
  readonly #metaStarts: number[] = [];
  readonly #metaLengths: number[] = [];
  readonly #metaListLengths: number[] = [];
  readonly #metaCounts: number[] = [];
  readonly #faults: number[] = [];
  /** The row of the video that is being read. */
  #row = -1;

  /** @param frameCapacity How many frames to make room for at first. */
  constructor(frameCapacity: number) {
    this.frames = new FrameColumns(frameCapacity + 16);
  }

  /** Begins the video whose id is `bytes[start … end]`. */
  beginVideo(bytes: Uint8Array, start: number, end: number): void {
    this.#row = this.#hash.find(bytes, start, end);
    if (this.#row >= 0) return;
    const at = this.#idsLength;
    const past = at + end - start;
    if (past > this.#ids.length) {
      const larger = new Uint8Array(Math.max(past, this.#ids.length * 2));
      larger.set(this.#ids);
      this.#ids = larger;
    }
    for (let i = start; i < end; i++) this.#ids[at + i - start] = bytes[i]!;
    this.#idsLength = past;
    this.#row = this.#starts.push(past) - 2;
    this.#hash.add(bytes, start, end, this.#row);
  }

  /**
   * Ends the video begun last.
   *
   * @param firstFrame Its first frame among all; its last is the last that was added.
   * @param fault What is wrong with it, a `VideoFault`.
   */
  endVideo(firstFrame: number, place: MetaPlace, fault: number): void {
    const row = this.#row;
    this.#firstFrames[row] = firstFrame;
    this.#frameCounts[row] = this.frames.length - firstFrame;
    this.#metaStarts[row] = place.start;
    this.#metaLengths[row] = place.length;
    this.#metaListLengths[row] = place.listLength;
    this.#metaCounts[row] = place.count;
    this.#faults[row] = fault;
  }

  /** What was collected. */
  finish(): { columns: MetaColumns; ids: VideoIds } {
    const bytes = this.#ids.slice(0, this.#idsLength);
    const starts = Uint32Array.from(this.#starts);
    this.#ids = bytes;
    return {
      columns: {
        ...this.frames.finish(),
        firstFrames: sharedUint32(this.#firstFrames),
        frameCounts: sharedUint32(this.#frameCounts),
        metaStarts: sharedFloat64(this.#metaStarts),
        metaLengths: sharedUint32(this.#metaLengths),
        metaListLengths: sharedUint32(this.#metaListLengths),
        metaCounts: sharedUint32(this.#metaCounts),
        faults: sharedUint8(this.#faults),
      },
      ids: { bytes, starts, hash: this.#hash },
    };
  }
}
