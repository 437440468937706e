/**
 * The errors recordfs throws. Each says what is wrong, where, and what to do about it in its
 * message, and carries the same facts as fields.
 *
 * @module
 */

import { messageText } from "./message_text.ts";

/** Facts that any recordfs error may carry. */
export interface ErrorFacts {
  /** The file on disk, or the path inside a container, that the error is about. */
  readonly path?: string | undefined;
  /** Byte offset in that file. */
  readonly offset?: number | undefined;
  /** The value that the format promises. */
  readonly expected?: unknown;
  /** The value that was found. */
  readonly actual?: unknown;
  /** Index of the sample (record) concerned. */
  readonly sample?: number | undefined;
  /** Name of the archive's member concerned, as the archive has it. */
  readonly member?: string | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * Base class of every error that recordfs throws on purpose.
 *
 * Its message can be shown: what a terminal would act on is escaped, and what is too long to be read is cut. The
 * fields have all of it.
 *
 * @typeParam Code The words that `code` may be.
 */
export class RecordfsError<Code extends string = string> extends Error {
  /** A stable word for the kind of error, such as `metadata-checksum`. */
  readonly code: Code;
  /** The file on disk, or the path inside a container. */
  readonly path: string | undefined;
  /** Byte offset in that file. */
  readonly offset: number | undefined;
  /** The value that the format promises. */
  readonly expected: unknown;
  /** The value that was found. */
  readonly actual: unknown;
  /** Index of the sample concerned. */
  readonly sample: number | undefined;
  /** Name of the archive's member concerned, as the archive has it. */
  readonly member: string | undefined;

  /** Makes an error with its facts; `cause` is the error that led to it. */
  constructor(code: Code, message: string, facts: ErrorFacts = {}) {
    super(
      messageText(message),
      facts.cause === undefined ? undefined : { cause: facts.cause },
    );
    this.name = new.target.name;
    this.code = code;
    this.path = facts.path;
    this.offset = facts.offset;
    this.expected = facts.expected;
    this.actual = facts.actual;
    this.sample = facts.sample;
    this.member = facts.member;
  }
}

/** Subjects of a {@linkcode FormatError}. */
export type FormatErrorCode =
  | "absurd-count"
  | "bad-frame-info"
  | "bad-index"
  | "bad-meta"
  | "bad-offsets"
  | "bad-pickle"
  | "bad-reference"
  | "bad-spec"
  | "bad-structure"
  | "bad-value"
  | "changed"
  | "duplicate-chunk"
  | "duplicate-id"
  | "git-lfs-pointer"
  | "metadata-checksum"
  | "missing-bag"
  | "missing-data"
  | "missing-index"
  | "missing-meta"
  | "missing-shard"
  | "missing-spec"
  | "not-packed"
  | "other-content"
  | "out-of-bounds"
  | "sample-checksum"
  | "several-formats"
  | "skipped-member"
  | "stray-file"
  | "too-large"
  | "truncated"
  | "truncated-data"
  | "truncated-header"
  | "unfinished"
  | "unknown-format"
  | "unreadable-member"
  | "unsupported"
  | "unsafe-name"
  | "unsafe-pickle";

/** A container is damaged, hostile, unfinished, or not what it was taken for. */
export class FormatError extends RecordfsError<FormatErrorCode> {}

/** A path inside a container does not lead to what was asked for. */
export class PathError
  extends RecordfsError<"not-found" | "is-directory" | "not-directory"> {
  /** Makes the error for `path` in the container at `container`. */
  constructor(code: PathError["code"], path: string, container: string) {
    const what = {
      "not-found": "there is no such file or directory",
      "is-directory": "it is a directory, not a file",
      "not-directory": "it is a file, not a directory",
    }[code];
    super(code, `Cannot open '${path}' in ${container}: ${what}`, { path });
  }
}

/** An index of a sample or frame that does not exist. */
export class IndexError extends RecordfsError {
  /** The index that was asked for. */
  readonly index: number;
  /** Their number. */
  readonly length: number;

  /**
   * Makes the error for sample `index` of `length` in the file `path`.
   *
   * @param lowest The lowest index there is: negative where indices may count from the end.
   * @param what What is counted.
   */
  constructor(
    index: number,
    length: number,
    path: string,
    lowest = 0,
    what = "sample",
  ) {
    const range = length === 0
      ? `it has no ${what}s`
      : `valid indices are ${lowest} to ${length - 1}`;
    super(
      "index-range",
      `${what[0]!.toUpperCase()}${what.slice(1)} ${index} does not exist in ` +
        `${path}: ${range}`,
      { path },
    );
    this.index = index;
    this.length = length;
  }
}

/**
 * Writing a container failed; the place it was to appear at is as it was before. One that is written
 * in its place, as a bag of generation 3, is as it was before what failed.
 *
 * The `code` is the system's where the system refused (`ENOSPC`, `EROFS`, `EACCES` …), and
 * otherwise one of `bad-datapoint`, `bad-name`, `bad-spec`, `bad-value`, `busy`, `changed`, `closed`,
 * `earlier-write-failed`, `empty-record`, `exists`, `incomplete-shard`, `mismatch`, `missing-index`,
 * `missing-shard`, `not-a-directory`, `not-a-file`, `not-empty`, `spec-differs`, `too-few-samples`,
 * `too-many-records`, `too-many-samples`.
 */
export class WriteError extends RecordfsError {}
