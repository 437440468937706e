import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ChunkPaths } from "../read/chunk_files.ts";
import { calculateChunkSlices } from "../write/chunk_writer.ts";
import { openMeta } from "../meta/open_meta.ts";

/**
 * The chunks of an ingest that came to its end: they follow each other and have exactly its videos; those
 * that were tried again are the last of their chunks. Whoever was interrupted cannot tell whether it was just before the end or just after.
 *
 * @param chunks The chunks that are there.
 * @param ids The ids that the ingest has.
 * @returns Its chunks, or `undefined` where some of its videos are not there.
 */
export function* findFinished(
  chunks: readonly ChunkPaths[],
  ids: readonly string[],
  videosPerChunk: number,
): Steps<ChunkPaths[] | undefined> {
  const slices = calculateChunkSlices(videosPerChunk, ids.length);
  const byNumber = new Map(chunks.map((chunk) => [chunk.number, chunk]));
  for (const { number } of chunks) {
    const found = slices.map((_, i) => byNumber.get(number + i))
      .filter((chunk) => chunk !== undefined);
    if (found.length < slices.length) continue;
    let matching = 0;
    for (const { start, stop } of slices) {
      const wanted = ids.slice(start, stop);
      if (!(yield* hasVideos(found[matching]!, wanted))) break;
      matching++;
    }
    if (matching === slices.length) return found;
  }
  return undefined;
}

function* hasVideos(
  { metaPath }: ChunkPaths,
  ids: readonly string[],
): Steps<boolean> {
  const meta = yield* openMeta(metaPath);
  meta.close();
  return meta.length === ids.length &&
    ids.every((id) => meta.find(id) >= 0);
}
