import type { JsonValue } from "../../../codecs/json/value.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { ChunkMeta } from "./chunk_meta.ts";
import type { FrameInfo, VideoMeta } from "./serializer.ts";

/** Content of the meta file for one video, read and made on access. */
export class StoredVideoMeta implements VideoMeta {
  readonly #meta: ChunkMeta;
  readonly #video: number;

  constructor(meta: ChunkMeta, video: number) {
    this.#meta = meta;
    this.#video = video;
  }

  get length(): number {
    return this.#meta.columns.frameCounts[this.#video]!;
  }

  get metaCount(): number {
    return this.#meta.columns.metaCounts[this.#video]!;
  }

  get frameInfo(): Iterable<FrameInfo> {
    return { [Symbol.iterator]: () => this.#frames() };
  }

  /** All items of meta_data, read from the file at each access. */
  get metaData(): readonly JsonValue[] {
    return runSync(this.#meta.readMetaData(this.#video));
  }

  *#frames(): Generator<FrameInfo, undefined, unknown> {
    const { offsets, lengths, pads, firstFrames } = this.#meta.columns;
    for (let frame = 0; frame < this.length; frame++) {
      const fault = this.#meta.frameFault(this.#video, frame, "", Infinity);
      if (fault !== undefined) throw fault;
      const row = firstFrames[this.#video]! + frame;
      yield [offsets[row]!, pads[row]!, lengths[row]!];
    }
    return undefined;
  }
}
