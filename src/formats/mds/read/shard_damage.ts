import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
import {
  type ArchiveNotes,
  SkippedList,
} from "../../../tree/archive/archive_notes.ts";
import { isDamage } from "../../../tree/samples/open_shards.ts";

/** Why the samples of a shard cannot be read. Plain data. */
export interface ShardDamage {
  readonly code: FormatErrorCode;
  readonly message: string;
  /** Samples from its start on that can be read: those that are whole, of a shard that was cut at its end. */
  readonly whole: number;
}

/**
 * Whether an error is about a shard as a whole: its file is damaged, or nothing here reads it. One of a single sample is
 * not.
 */
export function isOfWholeShard(error: unknown): error is FormatError {
  return isDamage(error) && error.sample === undefined;
}

/**
 * The error of a sample of a damaged shard.
 *
 * @param path The shard.
 * @param sample Its number in the whole dataset.
 * @param number Its number in the shard.
 */
export function sampleError(
  path: string,
  { code, message }: Pick<ShardDamage, "code" | "message">,
  sample: number,
  number: number,
  cause?: unknown,
): FormatError {
  return new FormatError(
    code,
    `${path}: sample ${sample}, number ${number} in this shard, cannot be read: ${message}`,
    { path, sample, member: `${sample}`, cause },
  );
}

/**
 * Says which samples of a damaged shard cannot be read.
 *
 * @param first The number of its first sample in the whole dataset.
 * @param end The number behind its last one.
 */
export function shardNotes(
  path: string,
  { code, message: why, whole }: ShardDamage,
  first: number,
  end: number,
): ArchiveNotes {
  const lost = first + whole;
  const range = end - lost === 1
    ? `sample ${lost}`
    : `samples ${lost} to ${end - 1}`;
  const what = lost === end
    ? "No sample is missing"
    : `Until then, ${range} cannot be read, and all others keep their numbers`;
  const message = `${why}. ${what}`;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    archive: path,
    skipped: new SkippedList(path).facts,
    unreadable: {
      listed: [{ archive: path, name, code, message }],
      count: 1,
    },
  };
}
