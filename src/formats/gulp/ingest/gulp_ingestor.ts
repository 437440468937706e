import { localPath } from "../../../io/storage/local_path.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import type { DatasetAdapter } from "../adapters/dataset_adapter.ts";
import { type AdapterRecipe, recipeOf } from "../adapters/load_adapter.ts";
import {
  assertCounts,
  calculateChunkSlices,
  type ChunkReport,
} from "../write/chunk_writer.ts";
import { newChunkPaths } from "../read/chunk_files.ts";
import { VideoIds } from "../ids/video_ids.ts";
import { type ChunkEvents, type ChunkJob, reportOf } from "./ingest_chunk.ts";
import { IngestError } from "./ingest_error.ts";
import {
  hashIds,
  IngestJournal,
  type IngestPlan,
  type NumberedReport,
  planOptions,
} from "./ingest_journal.ts";
import {
  assertNewIds,
  claimIds,
  examineTarget,
  type IngestTarget,
} from "./ingest_target.ts";
import { writeChunks } from "./write_chunks.ts";

/**
 * Writes all videos of an adapter to chunks (Python's `GulpIngestor`), several chunks at a time.
 *
 * Chunk numbers continue from the highest one in the directory. The assignment of videos to chunks does not depend on
 * the number of workers. A chunk appears when it is complete and on disk. Videos that fail are skipped and reported.
 *
 * While an ingest runs, the file `.recordfs-ingest.jsonl` in the directory holds its plan and prevents other ingests
 * there. The file stays if the ingest is killed or fails; the same ingest with `resume` then writes what is missing,
 * with the result of an uninterrupted ingest. It also stays if videos failed: `resume` retries them and adds them to
 * their chunks.
 * @example Gulp a directory of images
 * ```ts
 * import { GulpDirectory, GulpIngestor, ImageFolderAdapter } from "@recordfs/recordfs/gulp";
 * import { imageCodec } from "@recordfs/recordfs/image";
 * import assert from "node:assert/strict";
 *
 * const folder = await Deno.makeTempDir();
 * const codec = await imageCodec();
 * for (const label of ["cat", "dog"]) {
 *   const image = { data: new Uint8Array(48 * 64), height: 48, width: 64, channels: 1 } as const;
 *   await Deno.mkdir(`${folder}/${label}`);
 *   await Deno.writeFile(`${folder}/${label}/1.jpg`, await codec.encode(image));
 * }
 *
 * const outputFolder = `${folder}.gulp`;
 * const adapter = new ImageFolderAdapter({ folder, outputFolder, imgSize: 24 });
 * const report = await new GulpIngestor(adapter, outputFolder, 100, 1).run();
 * assert.equal(report.videos, 2);
 *
 * using directory = await GulpDirectory.open(outputFolder);
 * const { frames, meta } = await directory.get("dog-1.jpg");
 * assert.equal(frames[0]?.height, 24);
 * assert.equal(meta.label, "dog");
 * ```
 */
export class GulpIngestor {
  readonly #adapter: DatasetAdapter;
  readonly #directory: string;
  readonly #videosPerChunk: number;
  readonly #numWorkers: number;

  /**
   * Prepares an ingest.
   *
   * @param adapter Origin of the videos.
   * @param outputFolder Directory of the chunks; created if missing.
   * @param videosPerChunk Number of videos in a chunk.
   * @param numWorkers Number of writing threads; 1 is the caller's own. With more, each makes the adapter again: its
   *   class must have `static module`, or `makeAdapter` must have made it.
   * @throws {RangeError} If a number is not an integer of at least 1.
   */
  constructor(
    adapter: DatasetAdapter,
    outputFolder: string | URL,
    videosPerChunk: number,
    numWorkers: number,
  ) {
    assertCounts({ videosPerChunk, numWorkers });
    this.#adapter = adapter;
    this.#directory = localPath(outputFolder);
    this.#videosPerChunk = videosPerChunk;
    this.#numWorkers = numWorkers;
  }

  /**
   * Runs the ingest.
   *
   * @throws {IngestError} If there are no videos, ids are duplicated, or the directory has chunks and neither `extend`
   *   nor `resume` is set; nothing is written then.
   * @throws {WriteError} If a chunk cannot be written, or another ingest runs there.
   */
  async run(options: {
    /** Whether chunks may be added to a directory that has some. */
    readonly extend?: boolean | undefined;
    /**
     * Whether to continue a killed ingest, or retry the failed videos of one that ended; starts a new one if there is
     * none.
     */
    readonly resume?: boolean | undefined;
    /** Called with the progress after each frame. */
    readonly onProgress?:
      | ((progress: {
        /** Videos written so far. */
        readonly videos: number;
        /** Videos that have failed so far. */
        readonly failed: number;
        /** All videos; a resumed ingest counts those done earlier from the start. */
        readonly totalVideos: number;
        /** Frames that this run has written so far. */
        readonly frames: number;
        /** Bytes of JPEG that this run has written so far. */
        readonly bytes: number;
      }) => void)
      | undefined;
    /** Called with each video when it fails. */
    readonly onFailure?:
      | ((failed: ChunkReport["failed"][number]) => void)
      | undefined;
    /** Aborts the ingest; complete chunks stay, and it can be resumed. */
    readonly signal?: AbortSignal | undefined;
  } = {}): Promise<
    ChunkReport & {
      /** Paths of the data files, in chunk order. */
      readonly paths: readonly string[];
    }
  > {
    const { signal } = options;
    signal?.throwIfAborted();
    const directory = this.#directory;
    const { length } = this.#adapter;
    if (length === 0) {
      const why = this.#adapter.whyEmpty?.() ??
        "the adapter has no videos, or no new ones";
      throw new IngestError("no-videos", `Cannot ingest: ${why}`);
    }
    const recipe = this.#recipe();
    const ids = this.#adapter.ids === undefined
      ? undefined
      : Array.from(this.#adapter.ids(), String);
    claimIds(directory, ids ?? [], new VideoIds());
    await runAsync(makeDirectories(directory, directory));
    using journal = IngestJournal.open(directory);
    const planned = {
      videosPerChunk: this.#videosPerChunk,
      videos: length,
      ids: ids === undefined ? undefined : hashIds(ids),
      adapter: planOptions(this.#adapter, recipe),
    };
    const target = await examineTarget(
      directory,
      journal.plan,
      planned,
      ids,
      options,
    );
    const plan: IngestPlan = { ...planned, firstChunk: target.firstChunk };
    if (!target.isResumed && !target.isFinished) {
      assertNewIds(directory, ids ?? [], target.ids);
      journal.begin(plan);
    }
    const tally = new IngestTally(length, options);
    const jobs = this.#jobs(plan);
    const complete = new Set(target.complete.map(({ number }) => number));
    const pending: ChunkJob[] = [];
    const { retried } = target;
    for (const job of jobs) {
      // Retried videos are recorded only when all are done.
      const noted = retried.size > 0 ? undefined : journal.done.get(job.number);
      if (!complete.has(job.number) && noted?.videos !== 0) {
        pending.push(job);
        continue;
      }
      const report = noted ?? await runAsync(reportOf(job, ids));
      const only = missing(job, ids, target);
      if (only.size > 0) pending.push({ ...job, only });
      tally.add(only.size > 0 ? { ...report, failed: [] } : report);
    }
    tally.start();
    await writeChunks(this.#adapter, recipe, this.#numWorkers, pending, {
      events: tally.events(async (found) =>
        await claimIds(directory, found, target.ids)
      ),
      onChunk: (report) => {
        if (retried.size === 0) journal.note(report);
        tally.add(report);
      },
      signal,
    });
    const report = tally.report(jobs);
    if (!target.isFinished) {
      journal.finish(plan, report.failed.map(({ id }) => id));
    }
    return report;
  }

  /** Returns the chunks of a plan. */
  #jobs({ firstChunk, videosPerChunk, videos }: IngestPlan): ChunkJob[] {
    const slices = calculateChunkSlices(videosPerChunk, videos);
    return slices.map((slice, i) => ({
      ...newChunkPaths(this.#directory, firstChunk + i),
      slice,
    }));
  }

  /** Returns the remote constructor of the adapter, which several workers require. */
  #recipe(): AdapterRecipe | undefined {
    const recipe = recipeOf(this.#adapter);
    if (recipe !== undefined || this.#numWorkers === 1) return recipe;
    const { name } = this.#adapter.constructor;
    throw new IngestError(
      "bad-adapter",
      `Cannot use ${this.#numWorkers} workers: they cannot make the ` +
        `adapter ${name} again. Give its class ` +
        "`static module = import.meta.url` and export it, or use one worker",
    );
  }
}

/** Returns those of a chunk's videos that failed, are to be retried, and are still missing. */
function missing(
  { slice }: ChunkJob,
  ids: readonly string[] | undefined,
  { retried, ids: there }: IngestTarget,
): ReadonlySet<string> {
  const wanted = ids === undefined || retried.size === 0
    ? [...retried]
    : ids.slice(slice.start, slice.stop).filter((id) => retried.has(id));
  return new Set(wanted.filter((id) => there.find(id) < 0));
}

type IngestOptions = NonNullable<Parameters<GulpIngestor["run"]>[0]>;

/** Progress and totals of an ingest. */
export class IngestTally {
  readonly #options: IngestOptions;
  readonly #chunks = new Map<number, NumberedReport>();
  readonly #progress;

  constructor(totalVideos: number, options: IngestOptions) {
    this.#options = options;
    this.#progress = { videos: 0, failed: 0, totalVideos, frames: 0, bytes: 0 };
  }

  /** Adds a finished chunk. */
  add(report: NumberedReport): void {
    this.#chunks.set(report.chunk, report);
  }

  /** Reports what earlier runs have done. */
  start(): void {
    for (const { videos, failed } of this.#chunks.values()) {
      this.#progress.videos += videos;
      this.#progress.failed += failed.length;
    }
    this.#tell();
  }

  /**
   * Returns the callbacks for writing chunks.
   *
   * @param claim Called with the ids of each chunk.
   */
  events(claim: ChunkEvents["ids"]): ChunkEvents {
    return {
      frames: (count, bytes) => {
        this.#progress.frames += count;
        this.#progress.bytes += bytes;
        this.#tell();
      },
      video: (failed) => {
        if (failed === undefined) this.#progress.videos++;
        else {
          this.#progress.failed++;
          this.#options.onFailure?.(failed);
        }
        this.#tell();
      },
      ids: claim,
    };
  }

  report(jobs: readonly ChunkJob[]): Awaited<ReturnType<GulpIngestor["run"]>> {
    const chunks = jobs.map(({ number }) => this.#chunks.get(number)!);
    const sum = (count: (report: NumberedReport) => number) =>
      chunks.reduce((total, report) => total + count(report), 0);
    return {
      paths: jobs.filter((_, i) => chunks[i]!.videos > 0)
        .map(({ dataPath }) => dataPath),
      videos: sum(({ videos }) => videos),
      frames: sum(({ frames }) => frames),
      bytes: sum(({ bytes }) => bytes),
      failed: chunks.flatMap(({ failed }) => failed),
    };
  }

  #tell(): void {
    this.#options.onProgress?.({ ...this.#progress });
  }
}
