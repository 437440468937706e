import type { ChunkMeta } from "../meta/chunk_meta.ts";
import { VideoIds } from "../ids/video_ids.ts";

/** Ids of videos, and the chunk that each was taken from. */
export class KeptIds {
  readonly #ids = new VideoIds();
  readonly #metas: ChunkMeta[] = [];

  /** The chunk that has given a video with the same id, if one has. */
  find({ ids }: ChunkMeta, video: number): ChunkMeta | undefined {
    const [start, end] = [ids.starts[video]!, ids.starts[video + 1]!];
    return this.#metas[this.#ids.findBytes(ids.bytes, start, end)];
  }

  /** Notes a video, whose id is not there yet. */
  add(meta: ChunkMeta, video: number): void {
    const { bytes, starts } = meta.ids;
    this.#ids.add(bytes, starts[video]!, starts[video + 1]!);
    this.#metas.push(meta);
  }
}
