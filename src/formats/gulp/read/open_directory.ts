import { basename } from "node:path";
import { warnOfAll } from "../../../base/message_text.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import {
  isShardDamage,
  lostError,
  lostNotes,
  type LostShard,
  lostShard,
} from "../../../tree/samples/open_shards.ts";
import { chunkNumber, type ChunkPaths, listChunks } from "./chunk_files.ts";
import type { GulpOptions } from "./decoding.ts";
import { type DirectoryIndex, openChunks } from "./directory_index.ts";
import type { ChunkOptions, OpenedChunk } from "./opened_chunk.ts";

/** What opening a directory finds. */
export interface OpenedDirectory {
  readonly options: ChunkOptions;
  /** Of the chunks that are sound. */
  readonly paths: readonly ChunkPaths[];
  /** Chunks that are damaged, and left out. */
  readonly lost: readonly LostShard[];
  /** The number of the next chunk that is written. */
  readonly next: number;
  readonly chunks: readonly OpenedChunk[];
  readonly index: DirectoryIndex;
  readonly labelPath: string | undefined;
}

/**
 * Opens the chunks of a directory. Of several, those that are damaged, or of which a file is missing, are left out.
 *
 * @throws {FormatError} If the only one is damaged, or all are, or an id is there twice.
 */
export function* openDirectory(
  root: string,
  { serializer, storage, onWarning }: GulpOptions,
): Steps<OpenedDirectory> {
  const options = { serializer, storage };
  const listing = yield* listChunks(root, storage);
  const { problems, labelPath } = listing;
  const areSeveral = listing.chunks.length + problems.length > 1;
  const lost: LostShard[] = [];
  const leaveOut = (error: unknown, at: number) => {
    if (!areSeveral || !isShardDamage(error)) throw error;
    lost.push(lostShard(error.path ?? root, at, error));
  };
  for (const problem of problems) leaveOut(problem, listing.chunks.length);
  const { chunks, index } = yield* openChunks(
    listing.chunks,
    options,
    leaveOut,
    fail,
  );
  const [first] = lost;
  if (chunks.length === 0 && first !== undefined) throw lostError(first);
  warnOfAll(noteLines(lostNotes(lost)), onWarning);
  const taken = [
    ...listing.chunks.map(({ number }) => number),
    ...problems.map(({ path = "" }) => chunkNumber(basename(path))),
  ].filter(Number.isSafeInteger);
  const next = taken.reduce((next, number) => Math.max(next, number + 1), 0);
  const left = new Set(lost.map(({ at }) => at));
  const paths = listing.chunks.filter((_, at) => !left.has(at));
  return { options, paths, lost, next, chunks, index, labelPath };
}

function fail(error: unknown): never {
  throw error;
}
