import * as fs from "node:fs";
import * as path from "node:path";
import {
  FormatError,
  RecordfsError,
  WriteError,
} from "../../../base/errors.ts";
import { liesIn } from "../../../io/write/lies_in.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { readFile } from "../../../io/read/read_file.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  type ChunkPaths,
  LABEL_FILE,
  listChunks,
} from "../read/chunk_files.ts";
import { parseLabels } from "../meta/labels.ts";
import { OpenedChunk } from "../read/opened_chunk.ts";
import { VideoIds } from "../ids/video_ids.ts";
import { ChunkRepair, type KeptVideos } from "./repair_chunk.ts";
import { salvageMeta } from "./salvage_meta.ts";

/**
 * Writes a sound directory of chunks from a damaged one, which does not change.
 *
 * Copies videos byte for byte, in order, if all their frames lie in the data file and begin and end as JPEGs; of two
 * videos with the same id, the first sound one. Of a truncated JSON meta file, the videos before the cut are copied.
 * Meta files that were pickles become JSON. Chunks keep their names; chunks without videos are skipped.
 *
 * @param directory The damaged directory.
 * @param out The new directory, which must be empty or not exist. It appears when it is complete.
 * @throws {FormatError} If nothing can be saved; then nothing is written.
 * @throws {RecordfsError} If `directory` cannot be read.
 * @throws {WriteError} If `out` cannot be written.
 *
 * @example Save what is sound
 * ```ts
 * import { repairGulp } from "@recordfs/recordfs/gulp";
 * import assert from "node:assert/strict";
 *
 * const out = await Deno.makeTempDir();
 * const { videos } = await repairGulp("test/golden/gulp/v2_bad_truncated_data/gulp", out, {
 *   onLeftOut: ({ error }) => assert.match(error.message, /truncated/),
 * });
 * assert.ok(videos > 0);
 * await Deno.remove(out, { recursive: true });
 * ```
 */
export async function repairGulp(
  directory: string | URL,
  out: string | URL,
  options: {
    /**
     * Whether to keep videos with damaged frames without those frames, so that later frames move up. By default, such
     * videos are skipped.
     */
    readonly partial?: boolean | undefined;
    /** Called with each skipped part. */
    readonly onLeftOut?:
      | ((leftOut: {
        /** Fault, which names the file. */
        readonly error: RecordfsError;
        /** Id of the video; `undefined` if the fault concerns a file. */
        readonly id?: string | undefined;
        /** Number of skipped frames of the video; 0 for a file. */
        readonly frames: number;
      }) => void)
      | undefined;
    /** Called with the bytes of data files processed, and their total. */
    readonly onProgress?: ((done: number, total: number) => void) | undefined;
    /** Aborts the repair, which then leaves nothing behind. */
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<{
  /** Chunks in the new directory. */
  readonly chunks: number;
  /** Videos in the new directory. */
  readonly videos: number;
  /** Frames in the new directory. */
  readonly frames: number;
  /** Bytes of the new data files. */
  readonly bytes: number;
  /** Number of skipped parts. */
  readonly leftOut: number;
}> {
  const { signal } = options;
  const [from, to] = [localPath(directory), localPath(out)];
  const listing = await runAsync(listChunks(from), signal);
  if (listing.chunks.length + listing.problems.length === 0) {
    throw new FormatError(
      "unknown-format",
      `Cannot repair ${from}: it holds no chunks, such as data_0.gulp and ` +
        "meta_0.gmeta",
      { path: from },
    );
  }
  if (liesIn(to, from)) {
    throw new WriteError(
      "not-empty",
      `Cannot write the directory ${to}: it lies in ${from}, which is ` +
        "not changed. Choose another path",
      { path: to },
    );
  }
  return await NewDirectory.write(to, signal, async (into) => {
    const repair = new Repair(into, options);
    for (const problem of listing.problems) repair.leaveOut(problem);
    await repair.saveChunks(listing.chunks);
    if (repair.report.videos === 0) {
      throw new FormatError(
        "bad-meta",
        `Cannot repair ${from}: it has no video that can be saved, ` +
          "and nothing was written",
        { path: from },
      );
    }
    if (listing.labelPath !== undefined) {
      await repair.saveLabels(listing.labelPath);
    }
    return repair.report;
  });
}

type RepairOptions = NonNullable<Parameters<typeof repairGulp>[2]>;

class Repair {
  readonly #into: string;
  readonly #options: RepairOptions;
  readonly #kept: KeptVideos = { ids: new VideoIds(), metas: [] };
  readonly report = { chunks: 0, videos: 0, frames: 0, bytes: 0, leftOut: 0 };

  constructor(into: string, options: RepairOptions) {
    this.#into = into;
    this.#options = options;
  }

  leaveOut(error: RecordfsError, id?: string, frames = 0): void {
    this.report.leftOut++;
    this.#options.onLeftOut?.({ error, id, frames });
  }

  async saveChunks(listed: readonly ChunkPaths[]): Promise<void> {
    const sizes = await Promise.all(
      listed.map(({ dataPath }) =>
        fs.promises.stat(dataPath).then(({ size }) => size, () => 0)
      ),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let done = 0;
    for (const [i, paths] of listed.entries()) {
      const chunk = await this.#open(paths);
      try {
        if (chunk !== undefined) {
          await this.#save(
            chunk,
            (bytes) => this.#options.onProgress?.(done + bytes, total),
          );
        }
      } finally {
        chunk?.close();
      }
      done += sizes[i]!;
    }
    this.#options.onProgress?.(total, total);
  }

  /** Copies the label file unchanged. */
  async saveLabels(file: string): Promise<void> {
    const bytes = await runAsync(readFile(file), this.#options.signal);
    try {
      parseLabels(file, bytes);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return this.leaveOut(error);
    }
    await runAsync(NewFile.write(path.join(this.#into, LABEL_FILE), bytes));
  }

  /** Opens a chunk, or as much of it as can be read; reports the rest. */
  async #open(
    { dataPath, metaPath }: ChunkPaths,
  ): Promise<OpenedChunk | undefined> {
    const { signal } = this.#options;
    try {
      return await runAsync(OpenedChunk.open(dataPath, metaPath), signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const meta = error.code === "bad-meta"
        ? await runAsync(salvageMeta(metaPath), signal)
        : undefined;
      this.leaveOut(meta === undefined ? error : cutMeta(error, meta.length));
      if (meta === undefined) return undefined;
      const data = await runAsync(LOCAL_DISK.open(dataPath), signal);
      return new OpenedChunk(dataPath, data, meta);
    }
  }

  async #save(
    chunk: OpenedChunk,
    onProgress: (bytes: number) => void,
  ): Promise<void> {
    const { signal, partial = false } = this.#options;
    await new ChunkRepair(chunk, {
      into: this.#into,
      kept: this.#kept,
      partial,
      report: this.report,
      leaveOut: (error, id, frames) => this.leaveOut(error, id, frames),
      signal,
    }).run(onProgress);
  }
}

/** Whether a chunk is damaged or missing; a broken link is a missing file. */
function isDamage(error: unknown): error is RecordfsError {
  return error instanceof FormatError ||
    error instanceof RecordfsError && error.code === "ENOENT";
}

/** Adds the number of readable videos to the error of a cut meta file. */
function cutMeta(error: RecordfsError, videos: number): RecordfsError {
  return new FormatError(
    "bad-meta",
    `${error.message}. The ${videos} videos before that can be read`,
    { path: error.path, offset: error.offset, cause: error },
  );
}
