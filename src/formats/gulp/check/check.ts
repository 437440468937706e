import { FormatError } from "../../../base/errors.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { CheckOptions, CheckReport } from "../../../tree/format.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { ChunkCheck } from "./check_chunk.ts";
import type { ChunkListing } from "../read/chunk_files.ts";
import { openChunks } from "../read/directory_index.ts";
import { readLabels } from "../meta/labels.ts";

/**
 * Checks chunks, one after the other: that files come in pairs and belong together, that no id is there
 * twice, that each frame is a JPEG with its padding and lies apart from the others.
 *
 * All bytes of the data files are read. A chunk takes 12 bytes of memory a frame beside its index.
 *
 * @throws {RecordfsError} If a file cannot be opened.
 */
export async function checkChunks(
  { problems, labelPath, chunks: listed }: ChunkListing,
  options: CheckOptions,
): Promise<CheckReport> {
  const { storage = LOCAL_DISK, signal, onProgress, onDamage } = options;
  let damaged = 0;
  /** Reports damage; anything else ends the check. */
  const report = (error: unknown) => {
    if (!(error instanceof FormatError)) throw error;
    damaged++;
    onDamage(error);
  };
  problems.forEach(report);
  await runAsync(readLabels(labelPath, storage), signal).catch(report);
  const opening = openChunks(listed, { storage }, report, report);
  const { chunks } = await runAsync(opening, signal);
  try {
    const total = chunks.reduce((sum, { dataSize }) => sum + dataSize, 0);
    let bytes = total;
    let samples = 0;
    let before = 0;
    for (const chunk of chunks) {
      const { dataPath, dataSize, meta } = chunk;
      bytes += meta.size;
      samples += meta.frameCount;
      const tell = (done: number) => onProgress?.(before + done, total);
      await new ChunkCheck(chunk, report, tell, signal).run().catch(report);
      before += dataSize;
      // The originals count it as damage; it is what a chunk without videos looks like.
      if (dataSize === 0 && meta.frameCount === 0) {
        const message = `${dataPath} is empty, as its ${meta.path} says`;
        (options.onWarning ?? warnOnConsole)(message);
      }
    }
    onProgress?.(total, total);
    return { samples, bytes, damaged, compares: "structure" };
  } finally {
    for (const chunk of chunks) chunk.close();
  }
}
