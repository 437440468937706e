/**
 * Errors that recordfs throws. Messages say what is wrong, where, and what to do; fields carry the same facts.
 *
 * @module
 */

import { messageText } from "./message_text.ts";

/** Facts that any recordfs error may carry. */
export interface ErrorFacts {
  /** File on disk, or path inside a container, that the error is about. */
  readonly path?: string | undefined;
  /** Byte offset in that file. */
  readonly offset?: number | undefined;
  /** Value that the format requires. */
  readonly expected?: unknown;
  /** Value found. */
  readonly actual?: unknown;
  /** Index of the sample (record). */
  readonly sample?: number | undefined;
  /** Name of the archive member, as stored in the archive. */
  readonly member?: string | undefined;
  /** Options of the library that the message names. */
  readonly namedOptions?: RecordfsError["namedOptions"] | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * Base class of every error that recordfs throws on purpose.
 *
 * The message is safe to print: terminal control characters are escaped and long text is cut. The fields hold the full
 * values.
 *
 * @typeParam Code Possible values of `code`.
 */
export class RecordfsError<Code extends string = string> extends Error {
  /** Stable word for the kind of error, such as `metadata-checksum`. */
  readonly code: Code;
  /** File on disk, or path inside a container. */
  readonly path: string | undefined;
  /** Byte offset in that file. */
  readonly offset: number | undefined;
  /** Value that the format requires. */
  readonly expected: unknown;
  /** Value found. */
  readonly actual: unknown;
  /** Index of the sample. */
  readonly sample: number | undefined;
  /** Name of the archive member, as stored in the archive. */
  readonly member: string | undefined;
  /** Options of the library that the message names. */
  readonly namedOptions: readonly {
    /** Name of the option. */
    readonly name: string;
    /** Value that the message gives it, if any. */
    readonly value?: boolean | string | undefined;
  }[];

  /** Creates an error with its facts. */
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
    this.namedOptions = facts.namedOptions ?? [];
  }
}

/** A container is damaged, hostile, unfinished, or not what it was taken for. */
export class FormatError extends RecordfsError<
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
  | "unsafe-pickle"
> {}

/** A path inside a container that does not exist or is of the wrong kind. */
export class PathError
  extends RecordfsError<"not-found" | "is-directory" | "not-directory"> {
  /** Creates the error for `path` in the container at `container`. */
  constructor(code: PathError["code"], path: string, container: string) {
    const what = {
      "not-found": "there is no such file or directory",
      "is-directory": "it is a directory, not a file",
      "not-directory": "it is a file, not a directory",
    }[code];
    super(code, `Cannot open '${path}' in ${container}: ${what}`, { path });
  }
}

/** Index of a sample or frame that does not exist. */
export class IndexError extends RecordfsError {
  /** Requested index. */
  readonly index: number;
  /** Number of samples or frames. */
  readonly length: number;

  /**
   * Creates the error for sample `index` of `length` in the file `path`.
   *
   * @param lowest Lowest valid index: negative if indices may count from the end.
   * @param what What is counted, in the singular.
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
      `Cannot read ${what} ${index} of ${path}: index out of range: ` +
        `${range}`,
      { path },
    );
    this.index = index;
    this.length = length;
  }
}

/**
 * Writing a container failed. The destination is unchanged. A container that is written in place, such as a bag of
 * generation 3, is as it was before the failed operation.
 *
 * `code` is the system's error code if the system refused (`ENOSPC`, `EROFS`, `EACCES` …), and otherwise one of
 * `bad-datapoint`, `bad-name`, `bad-spec`, `bad-value`, `busy`, `changed`, `closed`, `earlier-write-failed`,
 * `empty-record`, `exists`, `incomplete-shard`, `mismatch`, `missing-index`, `missing-shard`, `not-a-directory`,
 * `not-a-file`, `not-empty`, `spec-differs`, `too-few-samples`, `too-many-records`, `too-many-samples`.
 */
export class WriteError extends RecordfsError {}
