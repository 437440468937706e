import * as fs from "node:fs";
import { WriteError } from "../../../base/errors.ts";
import {
  removeLeftovers,
  temporaryName,
} from "../../../io/write/temporaries.ts";
import { writeError } from "../../../io/write/write_error.ts";
import type { ChunkReport } from "../write/chunk_writer.ts";
import { createHash } from "node:crypto";
import * as path from "node:path";
import { runSync } from "../../../io/concurrency/steps.ts";
import { readFile } from "../../../io/read/read_file.ts";
import { encodeId } from "../ids/id_text.ts";
import { IngestError } from "./ingest_error.ts";
import type { DatasetAdapter } from "../adapters/dataset_adapter.ts";
import type { AdapterRecipe } from "../adapters/load_adapter.ts";
import type { AdapterOption } from "../adapters/options.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";

const LINE_FEED = 0x0a;

export interface NumberedReport extends ChunkReport {
  readonly chunk: number;
}

/**
 * Journal of an ingest in its directory: one line of JSON for the plan, and one for each finished chunk. It is locked
 * while the ingest runs, and removed at its end. An unlocked journal means that an ingest was killed, or that its plan
 * lists failed videos.
 */
export class IngestJournal implements Disposable {
  /** Plan of an ingest that was not finished, or in which videos failed. */
  readonly plan: IngestPlan | undefined;
  /** Finished chunks that were recorded. */
  readonly done: ReadonlyMap<number, NumberedReport>;
  readonly #path: string;
  #file: Deno.FsFile;
  #open = true;
  #isBegun: boolean;

  private constructor(path: string, file: Deno.FsFile, bytes: Uint8Array) {
    const whole = bytes.lastIndexOf(LINE_FEED) + 1;
    const text = utf8Text(bytes.subarray(0, whole));
    this.#path = path;
    this.#file = file;
    this.plan = parsePlan(path, text);
    this.#isBegun = this.plan !== undefined;
    const lines = text.split("\n").slice(1, -1);
    this.done = new Map(lines.map((line) => {
      const report = parseLine(path, line) as NumberedReport;
      return [report.chunk, report];
    }));
    // Drop the partial line of a killed process, so that no line follows it.
    if (whole < bytes.length) file.truncateSync(whole);
  }

  /** Opens and locks the journal of a directory; throws WriteError if another ingest is running there. */
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
          if (!file.tryLockSync(true)) {
            throw new WriteError(
              "busy",
              `Cannot ingest into ${directory}: another ingest is running there`,
              { path: directory },
            );
          }
          // The previous holder may have removed the file between opening and locking.
          const there = fs.statSync(path, { throwIfNoEntry: false });
          if (there !== undefined && there.ino === file.statSync().ino) {
            return new IngestJournal(path, file, runSync(readFile(path)));
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

  begin(plan: IngestPlan): void {
    this.#act(() => this.#replace(plan));
    this.#isBegun = true;
  }

  /** Records a finished chunk. */
  note(report: NumberedReport): void {
    this.#act(() => this.#append(report));
  }

  /** Removes the journal of a finished ingest. If videos failed, the plan stays and lists them. */
  finish(plan: IngestPlan, failed: readonly string[]): void {
    this.#act(() => {
      if (failed.length === 0) return fs.rmSync(this.#path, { force: true });
      this.#replace({ ...plan, failed });
    });
    this.#close();
  }

  /** Closes the file, which stays if an ingest was begun and not finished. */
  [Symbol.dispose](): void {
    if (!this.#open) return;
    if (!this.#isBegun) fs.rmSync(this.#path, { force: true });
    this.#close();
  }

  /** Replaces the journal atomically: if the process is killed, the old or the new plan is complete. */
  #replace(plan: IngestPlan): void {
    runSync(
      removeLeftovers(path.dirname(this.#path), path.basename(this.#path)),
    );
    const place = temporaryName(this.#path);
    const old = this.#file;
    this.#file = Deno.openSync(place, { write: true, createNew: true });
    try {
      this.#file.lockSync(true); // never blocks: no other process has the file; a rename keeps the lock
      this.#append(plan);
      fs.renameSync(place, this.#path);
    } catch (error) {
      this.#file.close();
      this.#file = old;
      fs.rmSync(place, { force: true });
      throw error;
    }
    release(old);
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
    release(this.#file);
  }
}

function release(file: Deno.FsFile): void {
  // Closing is not enough: a process that is being started may hold the descriptor briefly.
  file.unlockSync();
  file.close();
}

/** Plan of an ingest; equal plans write equal chunks. */
export interface IngestPlan {
  readonly firstChunk: number;
  readonly videosPerChunk: number;
  /** Number of videos of the adapter. */
  readonly videos: number;
  /** SHA-256 over the ids in order, if the adapter knows them. */
  readonly ids?: string | undefined;
  /** Class and options of the adapter, if known. */
  readonly adapter?: {
    readonly name: string;
    readonly options: AdapterRecipe["options"];
  } | undefined;
  /** Ids that failed in an ingest that ended; it can be resumed to retry them. */
  readonly failed?: readonly string[] | undefined;
}

/** Returns the path of the journal, which exists until an ingest is finished without failed videos. */
export function planPath(directory: string): string {
  return path.join(directory, ".recordfs-ingest.jsonl");
}

export function readPlan(directory: string): IngestPlan | undefined {
  const file = planPath(directory);
  if (!fs.existsSync(file)) return undefined;
  return parsePlan(file, utf8Text(runSync(readFile(file))));
}

/** Parses the plan; `undefined` if a killed process left it incomplete. Throws IngestError if it is not a plan. */
export function parsePlan(file: string, text: string): IngestPlan | undefined {
  const end = text.indexOf("\n");
  if (end < 0) return undefined;
  const plan = parseLine(file, text.slice(0, end)) as
    | Partial<IngestPlan>
    | null;
  const { firstChunk, videosPerChunk, videos, failed = [] } = plan ?? {};
  const isPlan = isCount(firstChunk) && isCount(videosPerChunk) &&
    isCount(videos) && Array.isArray(failed) &&
    failed.every((id) => typeof id === "string");
  if (isPlan) return plan as IngestPlan;
  throw noJournal(file);
}

export function parseLine(file: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw noJournal(file);
  }
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && value! >= 0;
}

function noJournal(file: string): IngestError {
  return new IngestError(
    "unfinished",
    `Cannot resume the unfinished ingest of ${file}: the file is ` +
      "damaged. Remove it",
    { path: file },
  );
}

/**
 * Returns the adapter options that decide what is written. Positional options are omitted: paths have several
 * spellings, and the ids show whether they are the same.
 */
export function planOptions(
  adapter: DatasetAdapter,
  recipe: AdapterRecipe | undefined,
): IngestPlan["adapter"] {
  if (recipe === undefined) return undefined;
  const { options: declared = [] } = adapter.constructor as unknown as {
    readonly options?: readonly AdapterOption[];
  };
  const others = new Set(["outputFolder", "withoutIds"]);
  for (const { name, positional } of declared) {
    if (positional === true) others.add(name);
  }
  const options = Object.entries(recipe.options)
    .filter(([name, value]) => !others.has(name) && value !== undefined);
  return { name: recipe.name, options: Object.fromEntries(options) };
}

export function hashIds(ids: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const id of ids) {
    const bytes = encodeId(id);
    hash.update(`${bytes.length}:`).update(bytes); // lengths keep "a", "bc" and "ab", "c" apart
  }
  return hash.digest("hex");
}

/** Description of how two plans differ. */
export interface PlanDifference {
  readonly text: string;
  /** Options that it names. */
  readonly namedOptions?: readonly NamedOption[];
}

/** Describes how two plans differ; `undefined` if they write the same. */
export function differenceOf(
  before: IngestPlan,
  now: IngestPlan,
): PlanDifference | undefined {
  const ofOption = (option: NamedOption, x: unknown, y: unknown) => ({
    text: `${optionText(option)} was ${x} and is ${y}`,
    namedOptions: [option],
  });
  if (before.videosPerChunk !== now.videosPerChunk) {
    const option = { name: "videosPerChunk" };
    return ofOption(option, before.videosPerChunk, now.videosPerChunk);
  }
  if (before.videos !== now.videos) {
    const text =
      `the number of videos was ${before.videos} and is ${now.videos}`;
    return { text };
  }
  if (before.adapter?.name !== now.adapter?.name) {
    const text =
      `the adapter was ${before.adapter?.name} and is ${now.adapter?.name}`;
    return { text };
  }
  const [then, options] = [before.adapter?.options, now.adapter?.options];
  for (const name of Object.keys({ ...then, ...options })) {
    const [x, y] = [then?.[name], options?.[name]].map((value) =>
      JSON.stringify(value)
    );
    if (x !== y) return ofOption({ name }, x, y);
  }
  if (before.ids !== now.ids) {
    return { text: "the ids of the videos are not the same" };
  }
  return undefined;
}
