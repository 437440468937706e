import {
  FrameColumns,
  type MetaColumns,
  type MetaPlace,
  shared,
} from "./meta_columns.ts";
import { VideoIds } from "../ids/video_ids.ts";

/**
 * Collects what a `.gmeta` says, video by video: first the id, then the frames, then
 * {@linkcode endVideo}.
 *
 * An id that comes again replaces what was said of it, at its first place, as in a Python dict.
 */
export class MetaBuilder {
  readonly frames: FrameColumns;
  readonly #ids = new VideoIds();
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
    const known = this.#ids.findBytes(bytes, start, end);
    this.#row = known >= 0 ? known : this.#ids.add(bytes, start, end);
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
    this.#ids.trim();
    return {
      columns: {
        ...this.frames.finish(),
        firstFrames: shared(Uint32Array, this.#firstFrames),
        frameCounts: shared(Uint32Array, this.#frameCounts),
        metaStarts: shared(Float64Array, this.#metaStarts),
        metaLengths: shared(Uint32Array, this.#metaLengths),
        metaListLengths: shared(Uint32Array, this.#metaListLengths),
        metaCounts: shared(Uint32Array, this.#metaCounts),
        faults: shared(Uint8Array, this.#faults),
      },
      ids: this.#ids,
    };
  }
}
