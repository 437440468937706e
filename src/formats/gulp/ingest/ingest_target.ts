import * as fs from "node:fs";
import {
  type NamedOption,
  optionText,
  RESUME,
} from "../../../base/named_option.ts";
import * as path from "node:path";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { removeLeftovers } from "../../../io/write/temporaries.ts";
import { type ChunkPaths, listChunks } from "../read/chunk_files.ts";
import { calculateChunkSlices } from "../write/chunk_writer.ts";
import { openMeta } from "../meta/open_meta.ts";
import { encodeId } from "../ids/id_text.ts";
import { VideoIds } from "../ids/video_ids.ts";
import { IngestError } from "./ingest_error.ts";
import {
  differenceOf,
  type IngestPlan,
  planPath,
  readPlan,
} from "./ingest_journal.ts";
import { localPath } from "../../../io/storage/local_path.ts";

const EXTEND: NamedOption = { name: "extend" };
const UNIQUE: NamedOption = { name: "removeDuplicateIds" };

/** State of a directory that an ingest writes to. */
export interface IngestTarget {
  readonly firstChunk: number;
  /** Complete chunks of this ingest. */
  readonly complete: readonly ChunkPaths[];
  /** Whether all chunks are complete: the ingest to resume had already ended. */
  readonly isFinished: boolean;
  /** Whether the ingest continues from its journal. */
  readonly isResumed: boolean;
  /** Videos that failed in an ingest that ended, and are retried. */
  readonly retried: ReadonlySet<string>;
  /** Ids in the directory. */
  readonly ids: VideoIds;
}

export interface TargetOptions {
  readonly extend?: boolean | undefined;
  readonly resume?: boolean | undefined;
}

/** Name of a data file, with its number. */
const DATA_NAME = /^data_(\d+)\.gulp$/;

/**
 * Examines the directory that an ingest writes to.
 *
 * @param before Plan of an unfinished ingest there.
 * @param plan Plan of this ingest; its first chunk is not known yet.
 * @param planned Ids of its videos, if the adapter knows them.
 * @throws {IngestError} If it may not write there.
 * @throws {FormatError} If chunks are damaged or miss a file.
 */
export async function examineTarget(
  directory: string,
  before: IngestPlan | undefined,
  plan: Omit<IngestPlan, "firstChunk">,
  planned: readonly string[] | undefined,
  { extend, resume }: TargetOptions,
): Promise<IngestTarget> {
  const { chunks, problems } = await runAsync(listChunks(directory));
  const ids = new VideoIds();
  const fresh = { isResumed: false, retried: new Set<string>() };
  const failed = new Set(before?.failed);
  const isEnded = before === undefined || failed.size > 0;
  const difference = before &&
    differenceOf(before, { ...plan, firstChunk: before.firstChunk });
  // An adapter that skips existing ids has only the failed videos left.
  const isRest = isEnded && difference !== undefined &&
    planned?.every((id) => failed.has(id)) === true;
  const isOther = isRest || extend === true && difference !== undefined;
  if (before === undefined || isEnded && (resume !== true || isOther)) {
    if (problems[0] !== undefined) throw problems[0];
    if (chunks.length > 0 && extend !== true && !(isRest && resume)) {
      const complete = resume === true && planned !== undefined
        ? await runAsync(
          findFinished(chunks, planned, plan.videosPerChunk),
        )
        : undefined;
      if (complete !== undefined) {
        const firstChunk = complete[0]!.number;
        return { ...fresh, firstChunk, complete, isFinished: true, ids };
      }
      throw new IngestError(
        resume === true ? "nothing-to-resume" : "not-empty",
        resume === true
          ? `Cannot resume in ${directory}: its ingest is finished, and its ` +
            `videos are not these. Add chunks to it with ${optionText(EXTEND)}`
          : `Cannot ingest into ${directory}: it has chunks already (${chunks.length}). ` +
            `Add more with ${optionText(EXTEND)}, or choose another directory`,
        { path: directory, namedOptions: [EXTEND] },
      );
    }
    await runAsync(addIdsOf(chunks, ids));
    const firstChunk = Math.max(-1, ...chunks.map(({ number }) => number)) + 1;
    return { ...fresh, firstChunk, complete: [], isFinished: false, ids };
  }
  if (resume !== true) {
    throw new IngestError(
      "unfinished",
      `Cannot ingest into ${directory}: an ingest into it was not finished. Continue that with ${
        optionText(RESUME)
      }; or, to keep only the chunks that it has written, remove ${
        planPath(directory)
      }`,
      { path: directory, namedOptions: [RESUME] },
    );
  }
  const { firstChunk } = before;
  if (difference !== undefined) {
    const which = failed.size > 0
      ? "in which videos failed"
      : "that was not finished";
    throw new IngestError(
      "other-ingest",
      `Cannot continue the ingest into ${directory} ${which}: it was another one: ${difference.text}. ` +
        "Give what it was given",
      { path: directory, namedOptions: difference.namedOptions },
    );
  }
  await runAsync(addIdsOf(chunks, ids));
  const end = firstChunk + Math.ceil(before.videos / before.videosPerChunk);
  await sweep(directory, firstChunk, end, chunks);
  const complete = chunks.filter(({ number }) => number >= firstChunk);
  return {
    firstChunk,
    complete,
    isFinished: false,
    isResumed: true,
    retried: failed,
    ids,
  };
}

/**
 * Finds the chunks of an ingest that ended: consecutive chunks with exactly its videos. Their order in a chunk may
 * differ: retried videos come last. Returns `undefined` if videos are missing. After an interruption, a caller cannot
 * know whether the ingest had just ended.
 */
function* findFinished(
  chunks: readonly ChunkPaths[],
  ids: readonly string[],
  videosPerChunk: number,
): Steps<ChunkPaths[] | undefined> {
  const slices = calculateChunkSlices(videosPerChunk, ids.length);
  const byNumber = new Map(chunks.map((chunk) => [chunk.number, chunk]));
  for (const { number } of chunks) {
    const found = slices.map((_, i) => byNumber.get(number + i))
      .filter((chunk) => chunk !== undefined);
    if (found.length < slices.length) continue;
    let matching = 0;
    for (const { start, stop } of slices) {
      const wanted = ids.slice(start, stop);
      if (!(yield* hasVideos(found[matching]!, wanted))) break;
      matching++;
    }
    if (matching === slices.length) return found;
  }
  return undefined;
}

function* hasVideos(
  { metaPath }: ChunkPaths,
  ids: readonly string[],
): Steps<boolean> {
  const meta = yield* openMeta(metaPath);
  meta.close();
  return meta.length === ids.length && ids.every((id) => meta.find(id) >= 0);
}

/** Removes leftovers of a killed process: temporary files, and data files before chunk `end` without a meta file. */
async function sweep(
  directory: string,
  firstChunk: number,
  end: number,
  complete: readonly ChunkPaths[],
): Promise<void> {
  await runAsync(removeLeftovers(directory));
  const kept = new Set(complete.map(({ number }) => number));
  for (const name of await fs.promises.readdir(directory)) {
    const number = Number(DATA_NAME.exec(name)?.[1]); // NaN for other files
    const isLeft = number >= firstChunk && number < end && !kept.has(number);
    if (isLeft) await fs.promises.unlink(path.join(directory, name));
  }
}

/** Throws IngestError if one of `ids` exists. */
export function assertNewIds(
  directory: string,
  ids: Iterable<string>,
  there: VideoIds,
): void {
  for (const id of ids) {
    if (there.find(id) >= 0) throw duplicate(directory, id);
  }
}

/** Adds new ids; throws IngestError if one exists. */
export function claimIds(
  directory: string,
  ids: Iterable<string>,
  there: VideoIds,
): void {
  for (const id of ids) {
    assertNewIds(directory, [id], there);
    const bytes = encodeId(id);
    there.add(bytes, 0, bytes.length);
  }
}

function duplicate(directory: string, id: string): IngestError {
  return new IngestError(
    "duplicate-id",
    `Cannot ingest into ${directory}: the id ${JSON.stringify(id)} ` +
      "would be in it twice, and readers refuse such directories. Skip duplicates with " +
      optionText(UNIQUE),
    { path: directory, namedOptions: [UNIQUE] },
  );
}

export function* addIdsOf(
  chunks: readonly ChunkPaths[],
  ids: VideoIds,
): Steps<void> {
  for (const { metaPath } of chunks) {
    const meta = yield* openMeta(metaPath);
    meta.close();
    for (let video = 0; video < meta.length; video++) {
      if (ids.findIdOf(meta.ids, video) < 0) ids.addIdOf(meta.ids, video);
    }
  }
}

/**
 * Returns those of `ids` that a directory has. Ignores the chunks of an unfinished ingest: it will be resumed with the
 * same videos. Throws FormatError if a chunk is damaged or misses a file.
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
  // Leftovers of a killed ingest are not a fault: they are rewritten.
  if (problems[0] !== undefined && end === Infinity) throw problems[0];
  const there = new VideoIds();
  runSync(addIdsOf(chunks.filter(({ number }) => number < end), there));
  return ids.filter((id) => there.find(id) >= 0);
}
