import * as fs from "node:fs";
import { localPath } from "../../../io/storage/local_path.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import { type ChunkPaths, listChunks } from "../read/chunk_files.ts";
import { openMeta } from "../meta/open_meta.ts";
import { VideoIds } from "../ids/video_ids.ts";
import { readPlan } from "./ingest_plan.ts";

/** Collects the ids of chunks. */
export function* addIdsOf(
  chunks: readonly ChunkPaths[],
  ids: VideoIds,
): Steps<void> {
  for (const { metaPath } of chunks) {
    const meta = yield* openMeta(metaPath);
    const { bytes, starts } = meta.ids;
    meta.close();
    for (let video = 0; video < meta.length; video++) {
      const [start, end] = [starts[video]!, starts[video + 1]!];
      if (ids.findBytes(bytes, start, end) < 0) ids.add(bytes, start, end);
    }
  }
}

/**
 * Those of `ids` that a directory has already. Chunks of an ingest that was not finished don't count:
 * it will be resumed, with the same videos.
 *
 * @throws {FormatError} If a chunk is damaged or misses a file.
 */
export function idsThere(
  directory: string | URL | undefined,
  ids: readonly string[],
): string[] {
  if (directory === undefined) return [];
  const root = localPath(directory);
  if (!fs.existsSync(root)) return [];
  const { chunks, problems } = runSync(listChunks(root));
  const plan = readPlan(root);
  const end = plan === undefined || plan.failed !== undefined
    ? Infinity
    : plan.firstChunk;
  // What a killed ingest left is no problem: it is written anew.
  if (problems[0] !== undefined && end === Infinity) throw problems[0];
  const there = new VideoIds();
  runSync(addIdsOf(chunks.filter(({ number }) => number < end), there));
  return ids.filter((id) => there.find(id) >= 0);
}
