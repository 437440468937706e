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

/** Something of a directory that was not carried over by {@linkcode repairGulp}. */
export interface GulpLeftOut {
  /** What is wrong with it; names the file. */
  readonly error: RecordfsError;
  /** The video's id; `undefined` where it is about a file. */
  readonly id?: string | undefined;
  /** How many frames of the video are left out; 0 for a file. */
  readonly frames: number;
}

/** Options of {@linkcode repairGulp}. */
export interface GulpRepairOptions {
  /**
   * Whether a video with damaged frames is kept without them, so that later frames move up. Unless
   * given, such a video is left out.
   */
  readonly partial?: boolean | undefined;
  /** Told of each thing that is left out. */
  readonly onLeftOut?: ((leftOut: GulpLeftOut) => void) | undefined;
  /** Told how many of how many bytes of data files are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the repair; nothing is left of it then. */
  readonly signal?: AbortSignal | undefined;
}

/** What {@linkcode repairGulp} has written. */
export interface GulpRepairReport {
  /** Chunks in the new directory. */
  readonly chunks: number;
  /** Videos in them. */
  readonly videos: number;
  /** Frames of these. */
  readonly frames: number;
  /** Bytes of its data files. */
  readonly bytes: number;
  /** How often something was left out. */
  readonly leftOut: number;
}

/**
 * Makes a sound directory of chunks from a damaged one, which is not changed.
 *
 * Videos whose frames all lie in the data file and are JPEGs from their first to their last bytes are
 * carried over, byte for byte, in their order; of two with the same id the first that is sound. Of a
 * meta file in JSON that is cut, the videos in front of the cut are. Meta files that were pickles
 * become JSON. Chunks keep their names; chunks without any video are left out.
 *
 * @param directory The damaged directory.
 * @param out The new one: an empty directory, or none. It appears when it is complete.
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
 *   onLeftOut: ({ error }) => assert.match(error.message, /cut/),
 * });
 * assert.ok(videos > 0);
 * await Deno.remove(out, { recursive: true });
 * ```
 */
export async function repairGulp(
  directory: string | URL,
  out: string | URL,
  options: GulpRepairOptions = {},
): Promise<GulpRepairReport> {
  const { signal } = options;
  const [from, to] = [localPath(directory), localPath(out)];
  const listing = await runAsync(listChunks(from), signal);
  if (listing.chunks.length + listing.problems.length === 0) {
    throw new FormatError(
      "unknown-format",
      `${from} holds no chunks, as in data_0.gulp and meta_0.gmeta`,
      { path: from },
    );
  }
  if (liesIn(to, from)) {
    throw new WriteError(
      "not-empty",
      `Cannot write the directory ${to}: it lies in ${from}, which is to stay as it is; choose another place`,
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
        `${from}: no video in it can be saved; nothing was written`,
        { path: from },
      );
    }
    if (listing.labelPath !== undefined) {
      await repair.saveLabels(listing.labelPath);
    }
    return repair.report;
  });
}

class Repair {
  readonly #into: string;
  readonly #options: GulpRepairOptions;
  readonly #kept: KeptVideos = { ids: new VideoIds(), metas: [] };
  readonly report = { chunks: 0, videos: 0, frames: 0, bytes: 0, leftOut: 0 };

  /** @param into The directory to write to. */
  constructor(into: string, options: GulpRepairOptions) {
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

  /** Carries the file of labels over as it is. */
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

  /** Opens a chunk, or what can be had of it; what can't is reported. */
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

/** Whether a chunk cannot be had; a link to nowhere is a missing file. */
function isDamage(error: unknown): error is RecordfsError {
  return error instanceof FormatError ||
    error instanceof RecordfsError && error.code === "ENOENT";
}

/** Says of a cut meta file what is not lost. */
function cutMeta(error: RecordfsError, videos: number): RecordfsError {
  return new FormatError(
    "bad-meta",
    `${error.message}; of its videos the ${videos} in front of that can be read`,
    { path: error.path, offset: error.offset, cause: error },
  );
}
