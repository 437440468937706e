import { FormatError, type FormatErrorCode } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import {
  type ArchiveNotes,
  SkippedList,
  withDamage,
} from "../archive/archive_notes.ts";

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

/** What is no damage: the shard is sound, and refused for what it is. */
const REFUSED: readonly FormatErrorCode[] = ["unsupported"];

/**
 * Opens the shards of a container, and looks at each. Of several, those that are damaged are left out: nothing says how
 * many samples they had, so that later ones have other numbers.
 *
 * @param look Finds out what is in one.
 * @throws {FormatError} If there is one shard and it is damaged, or if all are: what is wrong with the first.
 */
export function* openShards<S>(
  storage: Storage,
  paths: readonly string[],
  look: (source: ByteSource, at: number) => Steps<S>,
): Steps<OpenedShards<S>> {
  const known: (S | undefined)[] = paths.map(() => undefined);
  const errors = new Map<number, FormatError>();
  const opened = yield* openSources(storage, paths, function* (source, at) {
    try {
      known[at] = yield* look(source, at);
    } catch (error) {
      const isDamage = error instanceof FormatError &&
        !REFUSED.includes(error.code);
      if (paths.length === 1 || !isDamage) throw error;
      errors.set(at, error);
    }
  });
  for (const at of errors.keys()) opened[at]!.close();
  const [first] = errors.keys();
  if (first !== undefined && errors.size === paths.length) {
    throw errors.get(Math.min(...errors.keys()));
  }
  const isSound = (_: unknown, at: number) => !errors.has(at);
  return {
    sources: opened.filter(isSound),
    shards: known.filter(isSound) as S[],
    lost: [...errors].sort(([a], [b]) => a - b).map(([at, error]) => ({
      path: paths[at]!,
      at,
      code: error.code,
      message: error.message,
    })),
  };
}

/** The error that a shard is left out for. */
export function lostError({ path, code, message }: LostShard): FormatError {
  return new FormatError(code, message, { path });
}

/** What of a container cannot be read, since shards of it are left out. */
export function lostNotes(lost: readonly LostShard[]): ArchiveNotes[] {
  return lost.map(({ path, code, message: why }) => {
    const message =
      `${why}. This file is left out, and samples of later ones have other numbers`;
    return {
      archive: path,
      skipped: new SkippedList(path).facts,
      unreadable: withDamage(path, [{ code, message }], {
        listed: [],
        count: 0,
      }),
    };
  });
}
