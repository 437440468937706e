import { FormatError } from "../../base/errors.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import { storedIn } from "../../io/storage/layered_storage.ts";
import { openFile } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ShardTable } from "./shard_table.ts";
import { type ArchiveNotes, damageNotes } from "../archive/archive_notes.ts";

/** One of several shards, so damaged that its samples have no numbers. Plain data. */
export type LostShard = ShardTable["lost"][number];

export interface OpenedShards<S> {
  readonly sources: readonly ByteSource[];
  readonly shards: readonly S[];
  /** Damaged shards, which are in neither `sources` nor `shards`. */
  readonly lost: readonly LostShard[];
}

/** Codes that are not damage: the file was replaced since it was opened, or has not been fetched. */
const UNDAMAGED: readonly FormatError["code"][] = [
  "changed",
  "git-lfs-pointer",
];

/** Whether an error means permanent damage, which reading again cannot cure. */
export function isDamage(error: unknown): error is FormatError {
  return error instanceof FormatError && !UNDAMAGED.includes(error.code);
}

/** Whether an error is damage that only excludes this shard. Unsupported shards are not damage. */
export function isShardDamage(error: unknown): error is FormatError {
  return isDamage(error) && error.code !== "unsupported";
}

/**
 * Opens shards, concurrently if waiting is possible. If there are several, damaged ones are skipped: their sample
 * counts are unknown, so the samples of later shards get other numbers.
 *
 * @param open Opens one shard; it must close what it has opened before it throws.
 * @returns Sound shards in the order of `paths`, and the skipped ones.
 * @throws {FormatError} The first shard's error, if all (or the only) shards are damaged.
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

/** Opens a container's shards, one file each, like {@linkcode openSound}. `look` reads the metadata of a shard. */
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
    lost: lost.map(({ path, ...others }) => ({
      path: storedIn(storage, path),
      ...others,
    })),
  };
}

/** {@linkcode openShards}, for shards that other threads open by their path, size and time. */
export function openKnownShards<S>(
  storage: Storage,
  paths: readonly string[],
  look: (source: ByteSource) => Steps<S>,
): Steps<OpenedShards<S & KnownFile>> {
  return openShards(storage, paths, function* (source) {
    const { name: path, size, mtime } = source;
    return { ...yield* look(source), path, size, mtime };
  });
}

export function lostShard(
  path: string,
  at: number,
  { code, message }: FormatError,
): LostShard {
  return { path, at, code, message };
}

export function lostError({ path, code, message }: LostShard): FormatError {
  return new FormatError(code, message, { path });
}

/** Returns the notes of a container's skipped shards. */
export function lostNotes(lost: readonly LostShard[]): ArchiveNotes[] {
  return lost.map(({ path, code, message }) => {
    const what =
      "This shard is skipped, and samples of later ones have other numbers";
    return damageNotes(path, { code, message: `${message}. ${what}` });
  });
}
