import { FormatError } from "../../base/errors.ts";
import { reasonIn } from "../../base/message_text.ts";
import { type ArchiveNotes, SkippedList } from "../archive/archive_notes.ts";
import { isDamage } from "../samples/open_shards.ts";

/** Why samples of a shard cannot be read. Plain data. */
export interface ShardDamage {
  readonly code: FormatError["code"];
  readonly message: string;
  /** Number of readable samples at its start: the complete ones of a truncated shard. */
  readonly whole: number;
}

/** Whether an error concerns a whole shard, which is damaged or unsupported, rather than a single sample. */
export function isOfWholeShard(error: unknown): error is FormatError {
  return isDamage(error) && error.sample === undefined;
}

/** Makes the error for a damaged shard's sample; `sample` counts in the dataset, `number` in the shard. */
export function sampleError(
  path: string,
  { code, message }: Pick<ShardDamage, "code" | "message">,
  sample: number,
  number: number,
  cause?: unknown,
): FormatError {
  return new FormatError(
    code,
    `Cannot read sample ${sample} (number ${number} of ${path}): ` +
      `${reasonIn(message, path)}`,
    { path, sample, member: `${sample}`, cause },
  );
}

/** Returns the notes about a damaged shard with samples `first` to `end` (exclusive) of the dataset. */
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
