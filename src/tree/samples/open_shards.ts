import { FormatError, type FormatErrorCode } from "../../base/errors.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { type ArchiveNotes, damageNotes } from "../archive/archive_notes.ts";

/** A shard of several that is damaged so that none of its samples has a number. Plain data. */
export interface LostShard {
  /** Where it lies. */
  readonly path: string;
  /** Its place among all shards, from 0. */
  readonly at: number;
  /** What kind of damage it is. */
  readonly code: FormatErrorCode;
  /** What is wrong with it. */
  readonly message: string;
}

/** Shards that have been opened. */
export interface OpenedShards<S> {
  readonly sources: readonly ByteSource[];
  /** What is known of each. */
  readonly shards: readonly S[];
  /** Those that are damaged, and left out of both. */
  readonly lost: readonly LostShard[];
}

/** Codes of errors that are no damage: the file was replaced since it was opened, or has not been fetched. */
const UNDAMAGED: readonly FormatErrorCode[] = ["changed", "git-lfs-pointer"];

/** Whether an error says that what was read cannot be right, whenever it is read again. */
export function isDamage(error: unknown): error is FormatError {
  return error instanceof FormatError && !UNDAMAGED.includes(error.code);
}

/** Whether a shard, or a part of one, is damaged, so that the others are opened without it; one that is refused is not. */
export function isShardDamage(error: unknown): error is FormatError {
  return isDamage(error) && error.code !== "unsupported";
}

/**
 * Opens shards, several at once where they can be waited for. Of several, those that are damaged are left out: nothing
 * says how many samples they had, so that later ones have other numbers.
 *
 * @param open Opens one; it closes what it has opened of one that is damaged.
 * @returns Those that are sound, in the order of `paths`, and those that are left out.
 * @throws {FormatError} If there is one shard and it is damaged, or if all are: what is wrong with the first.
 */
export function* openSound<S extends { close(): void }>(
  paths: readonly string[],
  open: (path: string, at: number) => Steps<S>,
): Steps<{ readonly sound: S[]; readonly lost: LostShard[] }> {
  const opened: (S | FormatError | undefined)[] = paths.map(() => undefined);
  const isSound = (shard: S | FormatError | undefined): shard is S =>
    shard !== undefined && !(shard instanceof FormatError);
  try {
    yield* inParallel(paths.map(function* (path, at): Steps<void> {
      try {
        opened[at] = yield* open(path, at);
      } catch (error) {
        if (!isShardDamage(error)) throw error;
        opened[at] = error;
      }
    }));
    const sound = opened.filter(isSound);
    if (sound.length === 0 && opened.length > 0) throw opened[0];
    const lost = opened.flatMap((error, at) =>
      error instanceof FormatError ? [lostShard(paths[at]!, at, error)] : []
    );
    return { sound, lost };
  } catch (error) {
    for (const shard of opened.filter(isSound)) shard.close();
    throw error;
  }
}

/**
 * Opens the shards of a container, each of which is a file, and looks at each, as {@linkcode openSound} does.
 *
 * @param look Finds out what is in one.
 */
export function* openShards<S>(
  storage: Storage,
  paths: readonly string[],
  look: (source: ByteSource, at: number) => Steps<S>,
): Steps<OpenedShards<S>> {
  const { sound, lost } = yield* openSound(paths, function* (path, at) {
    const source = yield* openFile(storage, path);
    try {
      return {
        source,
        shard: yield* look(source, at),
        close: () => source.close(),
      };
    } catch (error) {
      source.close();
      throw error;
    }
  });
  return {
    sources: sound.map(({ source }) => source),
    shards: sound.map(({ shard }) => shard),
    lost,
  };
}

/** A shard that is left out, at its place among all, and why. */
export function lostShard(
  path: string,
  at: number,
  { code, message }: FormatError,
): LostShard {
  return { path, at, code, message };
}

/** The error that a shard is left out for. */
export function lostError({ path, code, message }: LostShard): FormatError {
  return new FormatError(code, message, { path });
}

/** What of a container cannot be read, since shards of it are left out. */
export function lostNotes(lost: readonly LostShard[]): ArchiveNotes[] {
  return lost.map(({ path, code, message }) => {
    const what =
      "This shard is left out, and samples of later ones have other numbers";
    return damageNotes(path, { code, message: `${message}. ${what}` });
  });
}
