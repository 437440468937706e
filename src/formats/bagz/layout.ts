/** Names of Bagz: `src/internal/limits_name.cc` and `src/file/file_system/shard_spec.cc` of google-deepmind/bagz. */

import { SHARD, SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";

/** Variant of the format whose shards have its records by turns. */
export const INTERLEAVED = "bagz-interleaved";

/** Bagz's own notation of shards: `x@10.bagz`, `x@*.bagz`. */
const AT = /@(\d{1,5}|\*)([^/@]*)$/;

const LIMITS = "limits.";

/** Returns the path of the limits of a file, if they are in a file of their own. */
export function limitsPath(path: string): string {
  return path.replace(/[^/]*$/, (name) => LIMITS + name);
}

/** Whether records in a file of this name are compressed, which may be compressed as a whole, too. URLs may have a query. */
export function isCompressed(path: string): boolean {
  return /\.bagz(\.\w+)?(\?[^/]*)?$/.test(path);
}

/**
 * Whether a file has records, by its name and those next to it. A `.bag` is of Bags, unless it is numbered as only
 * shards of Bagz are, or its limits are in a file next to it.
 */
export function isOwn(path: string, names: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(LIMITS)) return false;
  return /\.bagz(\?.*)?$/.test(name) || name.endsWith(".bag") &&
      (SHARD.test(name) || names.includes(LIMITS + name));
}

/** Whether a path is a pattern of shards. */
export function isPattern(path: string): boolean {
  return /\.bagz?$/.test(path) && (AT.test(path) || SHARD_PATTERN.test(path));
}

/** Whether a file of a directory that is of this format has records. */
export function isShard(name: string): boolean {
  return /\.bagz?$/.test(name) && !name.startsWith(LIMITS);
}

/** Returns a pattern such as `x-?????-of-00010.bagz` for one in Bagz's notation. */
export function patternOf(path: string): string {
  return path.replace(
    AT,
    (_, count: string, suffix: string) =>
      count === "*"
        ? `-*-of-*${suffix}`
        : `-?????-of-${count.padStart(5, "0")}${suffix}`,
  );
}
