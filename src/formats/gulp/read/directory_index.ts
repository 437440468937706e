import type { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { firstFrom } from "../../../tree/shared_numbers.ts";
import { type ChunkMeta, duplicateId } from "../meta/chunk_meta.ts";
import { encodeId } from "../ids/id_text.ts";
import { IdHash } from "../ids/video_ids.ts";
import type { ChunkPaths } from "./chunk_files.ts";
import { type ChunkOptions, OpenedChunk } from "./opened_chunk.ts";

/** A video of a directory: its chunk's place among the chunks, and its number there. */
export interface VideoPlace {
  readonly chunk: number;
  readonly video: number;
}

/** Told of a video whose id an earlier chunk has already; that one stays found. */
export type OnTwice = (error: FormatError, place: VideoPlace) => void;

/**
 * Opens chunks, one after the other, and finds ids that are there twice.
 *
 * @param onFault Told why a chunk cannot be opened. What it throws, or `onTwice`, ends the opening.
 */
export function* openChunks(
  paths: readonly ChunkPaths[],
  options: ChunkOptions,
  onFault: (error: unknown, at: number) => void,
  onTwice: OnTwice,
): Steps<{ chunks: OpenedChunk[]; index: DirectoryIndex }> {
  const chunks: OpenedChunk[] = [];
  const index = new DirectoryIndex();
  try {
    for (const [at, { dataPath, metaPath }] of paths.entries()) {
      let chunk: OpenedChunk;
      try {
        chunk = yield* OpenedChunk.open(dataPath, metaPath, options);
      } catch (error) {
        onFault(error, at);
        continue;
      }
      chunks.push(chunk);
      index.add(chunk.meta, onTwice);
    }
    return { chunks, index };
  } catch (error) {
    for (const chunk of chunks) chunk.close();
    throw error;
  }
}

/** The ids of all chunks of a directory. Videos are rows, chunk after chunk. */
export class DirectoryIndex {
  readonly #metas: ChunkMeta[] = [];
  /** Per chunk, and once more: its first row. */
  readonly #starts = [0];
  readonly #hash = new IdHash((row, bytes, start, end) => {
    const { chunk, video } = this.place(row);
    return this.#metas[chunk]!.ids.isId(video, bytes, start, end);
  });

  /** How many videos there are. */
  get length(): number {
    return this.#starts.at(-1)!;
  }

  /** Adds the next chunk. */
  add(meta: ChunkMeta, onTwice: OnTwice): void {
    const { bytes, starts } = meta.ids;
    const first = this.length;
    const chunk = this.#metas.push(meta) - 1;
    this.#starts.push(first + meta.length);
    for (let video = 0; video < meta.length; video++) {
      const [start, end] = [starts[video]!, starts[video + 1]!];
      const before = this.#hash.find(bytes, start, end);
      if (before < 0) this.#hash.add(bytes, start, end, first + video);
      else {
        const other = this.#metas[this.place(before).chunk]!;
        onTwice(duplicateId(meta, video, other), { chunk, video });
      }
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
    const chunk = firstFrom(this.#starts, row + 1) - 1;
    return { chunk, video: row - this.#starts[chunk]! };
  }
}
