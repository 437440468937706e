import * as fs from "node:fs";
import { WriteError } from "../../../errors.ts";
import { writeError } from "../../../io/write/write_error.ts";
import type { ChunkReport } from "../write/chunk_writer.ts";
import {
  type IngestPlan,
  parseLine,
  parsePlan,
  planPath,
} from "./ingest_plan.ts";

const LINE_FEED = 0x0a;

/** What became of one chunk. */
export interface NumberedReport extends ChunkReport {
  /** Number of the chunk. */
  readonly chunk: number;
}

/**
 * The file in a directory that says what an ingest writes, and which of its chunks are done: one line
 * of JSON for the plan, and one for each chunk. It is locked while the ingest runs, and removed at its
 * end; where it lies about unlocked, an ingest was killed, or its plan says which videos failed.
 */
export class IngestJournal implements Disposable {
  /** The plan of an ingest that was not finished, or in which videos failed. */
  readonly plan: IngestPlan | undefined;
  /** Its chunks that are done, as far as it came to note them. */
  readonly done: ReadonlyMap<number, NumberedReport>;
  readonly #path: string;
  readonly #file: Deno.FsFile;
  #open = true;
  #isBegun: boolean;

  private constructor(path: string, file: Deno.FsFile, bytes: Uint8Array) {
    const whole = bytes.lastIndexOf(LINE_FEED) + 1;
    const text = new TextDecoder().decode(bytes.subarray(0, whole));
    this.#path = path;
    this.#file = file;
    this.plan = parsePlan(path, text);
    this.#isBegun = this.plan !== undefined;
    this.done = new Map(
      reportsOf(path, text).map((report) => [report.chunk, report]),
    );
    // What a killed process began to write: the next line must not follow it.
    if (whole < bytes.length) file.truncateSync(whole);
  }

  /**
   * Opens the journal of a directory, which keeps others from ingesting into it.
   *
   * @throws {WriteError} If another ingest is running there.
   */
  static open(directory: string): IngestJournal {
    const path = planPath(directory);
    try {
      for (;;) {
        const file = Deno.openSync(path, {
          read: true,
          write: true,
          create: true,
        });
        try {
          if (!file.tryLockSync(true)) throw busy(directory);
          // Who was here before may have removed it between the two calls.
          const there = fs.statSync(path, { throwIfNoEntry: false });
          if (there !== undefined && there.ino === file.statSync().ino) {
            return new IngestJournal(path, file, fs.readFileSync(path));
          }
        } catch (error) {
          file.close();
          throw error;
        }
        file.close();
      }
    } catch (error) {
      throw writeError(path, error);
    }
  }

  /** Notes what is going to be written. */
  begin(plan: IngestPlan): void {
    this.#act(() => {
      this.#file.truncateSync(0);
      this.#append(plan);
    });
    this.#isBegun = true;
  }

  /** Notes that a chunk is done. */
  note(report: NumberedReport): void {
    this.#act(() => this.#append(report));
  }

  /** Removes the file: the ingest is finished. If videos failed, the plan stays, and says which. */
  finish(plan: IngestPlan, failed: readonly string[]): void {
    this.#act(() => {
      if (failed.length === 0) return fs.rmSync(this.#path, { force: true });
      this.#file.truncateSync(0);
      this.#append({ ...plan, failed });
    });
    this.#close();
  }

  /** Lets go of the file; it stays where an ingest was begun and not finished. */
  [Symbol.dispose](): void {
    if (!this.#open) return;
    if (!this.#isBegun) fs.rmSync(this.#path, { force: true });
    this.#close();
  }

  #append(line: IngestPlan | NumberedReport): void {
    this.#file.seekSync(0, Deno.SeekMode.End);
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
    for (let at = 0; at < bytes.length;) {
      at += this.#file.writeSync(bytes.subarray(at));
    }
    this.#file.syncDataSync();
  }

  #act(act: () => void): void {
    try {
      act();
    } catch (error) {
      throw writeError(this.#path, error);
    }
  }

  #close(): void {
    this.#open = false;
    // Closing is not enough: a process that is being started may hold the descriptor for a moment.
    this.#file.unlockSync();
    this.#file.close();
  }
}

/** The lines about chunks. */
function reportsOf(path: string, text: string): NumberedReport[] {
  return text.split("\n").slice(1, -1)
    .map((line) => parseLine(path, line) as NumberedReport);
}

function busy(directory: string): WriteError {
  return new WriteError(
    "busy",
    `Cannot ingest into ${directory}: another ingest is running there`,
    { path: directory },
  );
}
