import type { JsonValue } from "../../../codecs/json/value.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { ChunkMeta } from "./chunk_meta.ts";
import { frameError } from "../check/faults.ts";
import type { FrameInfo, VideoMeta } from "./serializer.ts";

/** What the meta file says of one video: nothing is read or made before it is asked for. */
export class StoredVideoMeta implements VideoMeta {
  readonly #meta: ChunkMeta;
  readonly #video: number;

  constructor(meta: ChunkMeta, video: number) {
    this.#meta = meta;
    this.#video = video;
  }

  /** How many frames there are. */
  get length(): number {
    return this.#meta.columns.frameCounts[this.#video]!;
  }

  /** How many items of meta_data there are. */
  get metaCount(): number {
    return this.#meta.columns.metaCounts[this.#video]!;
  }

  /** The frames; made as they are asked for. */
  get frameInfo(): Iterable<FrameInfo> {
    return { [Symbol.iterator]: () => this.#frames() };
  }

  /** All items of meta_data; read from the file at each access. */
  get metaData(): readonly JsonValue[] {
    return runSync(this.#meta.readMetaData(this.#video));
  }

  *#frames(): Generator<FrameInfo, undefined, unknown> {
    const { offsets, lengths, pads, firstFrames } = this.#meta.columns;
    const first = firstFrames[this.#video]!;
    for (let i = 0; i < this.length; i++) {
      const row = first + i;
      const offset = offsets[row]!;
      if (offset < 0) throw frameError(this.#meta, this.#video, i, "", 0);
      yield [offset, pads[row]!, lengths[row]!];
    }
    return undefined;
  }
}
