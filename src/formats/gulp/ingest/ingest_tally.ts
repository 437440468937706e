import type { ChunkEvents, ChunkJob } from "./ingest_chunk.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import type { IngestOptions, IngestReport } from "./ingest_report.ts";

/** Counts what an ingest has done. */
export class IngestTally {
  readonly #totalVideos: number;
  readonly #options: IngestOptions;
  readonly #chunks = new Map<number, NumberedReport>();
  #videos = 0;
  #failed = 0;
  #frames = 0;
  #bytes = 0;

  constructor(totalVideos: number, options: IngestOptions) {
    this.#totalVideos = totalVideos;
    this.#options = options;
  }

  /** Takes a chunk that is done. */
  add(report: NumberedReport): void {
    this.#chunks.set(report.chunk, report);
  }

  /** Begins with what is done already. */
  start(): void {
    for (const { videos, failed } of this.#chunks.values()) {
      this.#videos += videos;
      this.#failed += failed.length;
    }
    this.#tell();
  }

  /**
   * What is to be told while chunks are written.
   *
   * @param claim Asked about the ids of each chunk.
   */
  events(claim: ChunkEvents["ids"]): ChunkEvents {
    return {
      frames: (count, bytes) => {
        this.#frames += count;
        this.#bytes += bytes;
        this.#tell();
      },
      video: (failed) => {
        if (failed === undefined) this.#videos++;
        else {
          this.#failed++;
          this.#options.onFailure?.(failed);
        }
        this.#tell();
      },
      ids: claim,
    };
  }

  /** All that was written. */
  report(jobs: readonly ChunkJob[]): IngestReport {
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
    this.#options.onProgress?.({
      videos: this.#videos,
      failed: this.#failed,
      totalVideos: this.#totalVideos,
      frames: this.#frames,
      bytes: this.#bytes,
    });
  }
}
