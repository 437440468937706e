import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { runSync } from "../../../io/concurrency/steps.ts";
import { readFile } from "../../../io/read/read_file.ts";
import { encodeId } from "../ids/id_text.ts";
import { IngestError } from "./ingest_error.ts";
import type {
  AdapterRecipe,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import type { AdapterOption } from "../adapters/options.ts";

/** What an ingest writes: with the same plan, it writes the same chunks. */
export interface IngestPlan {
  /** Number of its first chunk. */
  readonly firstChunk: number;
  readonly videosPerChunk: number;
  /** How many videos the adapter has. */
  readonly videos: number;
  /** SHA-256 over the ids in their order, where the adapter knows them. */
  readonly ids?: string | undefined;
  /** The adapter's class and its options, where they can be told. */
  readonly adapter?: {
    readonly name: string;
    readonly options: AdapterRecipe["options"];
  } | undefined;
  /** The ids that failed, in an ingest that came to its end: it can be resumed to try them again. */
  readonly failed?: readonly string[] | undefined;
}

/** Where the plan of an ingest is kept until it is finished, and none of its videos has failed. */
export function planPath(directory: string): string {
  return path.join(directory, ".recordfs-ingest.jsonl");
}

/** The plan that is kept in a directory, if there is one. */
export function readPlan(directory: string): IngestPlan | undefined {
  const file = planPath(directory);
  if (!fs.existsSync(file)) return undefined;
  return parsePlan(file, new TextDecoder().decode(runSync(readFile(file))));
}

/**
 * The first line of the file; `undefined` where a process was killed before it was complete.
 *
 * @throws {IngestError} If it is something else.
 */
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

/** Parses a line of the file. */
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
    `${file} should say which ingest was not finished, but is damaged: remove it`,
    { path: file },
  );
}

/**
 * What of an adapter's options decides what is written. Paths may be said in several ways; the ids
 * tell whether they are the same.
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

/** The SHA-256 that stands for a list of ids. */
export function hashIds(ids: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const id of ids) {
    const bytes = encodeId(id);
    hash.update(`${bytes.length}:`).update(bytes); // lengths: "a", "bc" is not "ab", "c"
  }
  return hash.digest("hex");
}

/** What of two plans differs; `undefined` where they write the same. */
export function differenceOf(
  before: IngestPlan,
  now: IngestPlan,
): string | undefined {
  for (const key of ["videosPerChunk", "videos"] as const) {
    if (before[key] !== now[key]) {
      const what = key === "videos"
        ? "the number of videos"
        : "the option `videosPerChunk`";
      return `${what} was ${before[key]} and is ${now[key]}`;
    }
  }
  if (before.adapter?.name !== now.adapter?.name) {
    return `the adapter was ${before.adapter?.name} and is ${now.adapter?.name}`;
  }
  const [then, options] = [before.adapter?.options, now.adapter?.options];
  for (const name of Object.keys({ ...then, ...options })) {
    const [x, y] = [then?.[name], options?.[name]].map((value) =>
      JSON.stringify(value)
    );
    if (x !== y) return `the option \`${name}\` was ${x} and is ${y}`;
  }
  if (before.ids !== now.ids) return "the ids of the videos are not the same";
  return undefined;
}
