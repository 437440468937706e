import type { FormatError } from "../../../base/errors.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { encodeId } from "../ids/id_text.ts";
import { IdHash } from "../ids/video_ids.ts";
import { duplicateId } from "../meta/chunk_meta.ts";
import type { KeyedRows } from "../meta/lazy_map.ts";
import type { OpenedChunk } from "./opened_chunk.ts";

/** A video by its chunk and its number there. */
export interface VideoPlace {
  readonly chunk: OpenedChunk;
  readonly video: number;
}

/** Called with a video whose id an earlier chunk has; lookups find the earlier one. */
export type OnTwice = (error: FormatError, video: number) => void;

/** Table of chunks, whose videos are numbered from 0 across chunks and found by id. */
export class ChunkTable extends ShardTable<OpenedChunk> implements KeyedRows {
  #hash: IdHash | undefined;

  constructor(
    chunks: readonly OpenedChunk[],
    lost: readonly LostShard[] = [],
  ) {
    super(chunks, ({ meta }) => meta.length, lost);
  }

  at(index: number): VideoPlace {
    const at = this.shardOf(index);
    return { chunk: this.shards[at]!, video: index - this.firsts[at]! };
  }

  id(index: number): string {
    const { chunk, video } = this.at(index);
    return chunk.meta.id(video);
  }

  /** Returns the video with an id, or -1. */
  find(id: string): number {
    const bytes = encodeId(id);
    this.#hash ??= this.#hashed(() => {});
    return this.#hash.find(bytes, 0, bytes.length);
  }

  /** Indexes the ids, and reports duplicates. */
  findTwice(onTwice: OnTwice): void {
    this.#hash = this.#hashed(onTwice);
  }

  #hashed(onTwice: OnTwice): IdHash {
    const hash = new IdHash((index, bytes, start, end) => {
      const { chunk, video } = this.at(index);
      return chunk.meta.ids.isId(video, bytes, start, end);
    });
    for (const [chunk, { meta }] of this.shards.entries()) {
      const { bytes, starts } = meta.ids;
      const first = this.firsts[chunk]!;
      for (let video = 0; video < meta.length; video++) {
        const [start, end] = [starts[video]!, starts[video + 1]!];
        const before = hash.find(bytes, start, end);
        if (before < 0) hash.add(bytes, start, end, first + video);
        else {
          const error = duplicateId(meta, video, this.of(before).meta);
          onTwice(error, first + video);
        }
      }
    }
    return hash;
  }
}
