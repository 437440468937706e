import type { ChunkMeta } from "../meta/chunk_meta.ts";
import { IdHash, sameBytes } from "../ids/id_hash.ts";
import { encodeId } from "../ids/id_text.ts";

/** A video of a directory: its chunk's place among the chunks, and its number there. */
export interface VideoPlace {
  readonly chunk: number;
  readonly video: number;
}

/** The ids of all chunks of a directory. Videos are rows, chunk after chunk. */
export class DirectoryIndex {
  readonly #metas: ChunkMeta[] = [];
  /** Per chunk, and once more: its first row. */
  readonly #starts = [0];
  readonly #hash = new IdHash((row, bytes, start, end) => {
    const { chunk, video } = this.place(row);
    const { ids } = this.#metas[chunk]!;
    const [from, to] = [ids.starts[video]!, ids.starts[video + 1]!];
    return sameBytes(ids.bytes, from, to, bytes, start, end);
  });

  /** How many videos there are. */
  get length(): number {
    return this.#starts.at(-1)!;
  }

  /**
   * Adds the next chunk.
   *
   * @param onTwice Told of each video whose id another chunk has already; that one stays found.
   */
  add(
    meta: ChunkMeta,
    onTwice: (video: number, before: VideoPlace) => void,
  ): void {
    const { bytes, starts } = meta.ids;
    const first = this.length;
    this.#metas.push(meta);
    this.#starts.push(first + meta.length);
    for (let video = 0; video < meta.length; video++) {
      const [start, end] = [starts[video]!, starts[video + 1]!];
      const before = this.#hash.find(bytes, start, end);
      if (before < 0) this.#hash.add(bytes, start, end, first + video);
      else onTwice(video, this.place(before));
    }
  }

  /** The row of an id, or -1. */
  find(id: string): number {
    const bytes = encodeId(id);
    return this.#hash.find(bytes, 0, bytes.length);
  }

  /** The id of a row. */
  id(row: number): string {
    const { chunk, video } = this.place(row);
    return this.#metas[chunk]!.id(video);
  }

  /** Where a row is. */
  place(row: number): VideoPlace {
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 2;
    while (low < high) {
      const middle = low + high + 1 >>> 1;
      if (starts[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    return { chunk: low, video: row - starts[low]! };
  }
}
