import { ReadWindows } from "../../../io/read/read_windows.ts";
import { CheckRun } from "../../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../../tree/format.ts";
import { ChunkCheck } from "./check_chunk.ts";
import type { ChunkListing } from "../read/chunk_files.ts";
import { ChunkTable } from "../read/chunk_table.ts";
import { OpenedChunk } from "../read/opened_chunk.ts";
import { readLabels } from "../meta/labels.ts";

/**
 * Checks chunks one by one: files come in pairs that match, ids are unique, and each frame is a JPEG with its padding
 * that overlaps no other.
 *
 * Reads all bytes of the data files. A chunk takes 12 bytes of memory a frame, in addition to its index.
 *
 * @throws {RecordfsError} If a file cannot be opened.
 */
export async function checkChunks(
  { problems, labelPath, chunks: listed }: ChunkListing,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { storage } = run;
  const report = (error: unknown) => run.damage(error);
  problems.forEach(report);
  await run.part(() => run.run(readLabels(labelPath, storage)));
  const chunks: OpenedChunk[] = [];
  const windows = new ReadWindows(run.signal);
  try {
    for (const { dataPath, metaPath } of listed) {
      const opening = OpenedChunk.open(dataPath, metaPath, { storage });
      await run.part(async () => chunks.push(await run.run(opening)));
    }
    new ChunkTable(chunks).findTwice(report);
    const total = chunks.reduce((sum, { dataSize }) => sum + dataSize, 0);
    run.total = total;
    let [bytes, samples, before] = [total, 0, 0];
    for (const chunk of chunks) {
      const { dataPath, dataSize, meta } = chunk;
      bytes += meta.size;
      samples += meta.frameCount;
      const start = before;
      const tell = (done: number) => run.advanceTo(start + done);
      const { signal } = run;
      const check = new ChunkCheck(chunk, report, tell, windows, signal);
      await run.part(() => check.run());
      before += dataSize;
      // The original libraries report damage, but this is what a chunk without videos looks like.
      if (dataSize === 0 && meta.frameCount === 0) {
        run.warn(`${dataPath} is empty, as its ${meta.path} says`);
      }
    }
    run.advanceTo(total);
    run.total = bytes;
    return run.report({ samples, compares: "structure" });
  } finally {
    await windows.end();
    for (const chunk of chunks) chunk.close();
  }
}
