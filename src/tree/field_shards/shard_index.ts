import { FormatError } from "../../base/errors.ts";
import { messageOf } from "../../base/message_text.ts";
import { strictUtf8Text, withoutByteOrderMark } from "../../base/utf8.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { Field } from "../samples/samples.ts";
import type { Encoding } from "./encoding.ts";
import { LARGEST_SHARD, tableSize } from "./layout.ts";

/** A field, and the encoding of its values. */
export interface Column extends Field {
  readonly encoding: Encoding;
}

export function columnOf(name: string, encoding: Encoding): Column {
  const { type, list } = encoding;
  return { name, type, isList: list !== undefined, encoding };
}

export interface FileFacts {
  /** Path relative to the index. */
  readonly basename: string;
  /** Size of the file; `undefined` if the index does not say it. */
  readonly bytes: number | undefined;
  /** By algorithm, in hex. */
  readonly hashes: Readonly<Record<string, string>>;
}

export interface ShardFacts {
  readonly raw: FileFacts & { readonly bytes: number };
  /** Compressed file, and its compression. */
  readonly packed: FileFacts | undefined;
  readonly compression: string | undefined;
  readonly samples: number;
  /** Index of its columns in {@linkcode ShardIndex.sets}. */
  readonly set: number;
}

/** Content of an index; plain data. */
export interface ShardIndex {
  /** Distinct sets of columns. Shards of one dataset usually have the same. */
  readonly sets: readonly (readonly Column[])[];
  readonly shards: readonly ShardFacts[];
}

/** Dataset: its index, and the location of its files. */
export interface FoundShards {
  readonly index: ShardIndex;
  readonly directory: string;
  /** Path of the index, or of a shard read alone. */
  readonly path: string;
  readonly isAlone: boolean;
}

/** Finds the shards of a location. Throws a `FormatError` if there is no index, or it is damaged. */
export type FindShards = (
  location: string,
  storage: Storage,
) => Steps<FoundShards>;

/** Object of an index, which is not yet validated. */
export type IndexFacts = Readonly<Record<string, unknown>>;

/** Parts of an index, as untrusted input: names must not leave the directory, and counts must fit the sizes. */
export class IndexParts {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  json(bytes: Uint8Array): unknown {
    try {
      return JSON.parse(withoutByteOrderMark(strictUtf8Text(bytes)));
    } catch (cause) {
      const why = messageOf(cause);
      throw this.bad(`it is not JSON (${why})`, cause);
    }
  }

  object(
    value: unknown,
    where: string,
    otherwise = "not an object",
  ): IndexFacts {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as IndexFacts;
    }
    throw this.bad(`${where} is ${otherwise}`);
  }

  basename(value: unknown, where: string): string {
    if (typeof value !== "string") {
      throw this.bad(`${where} has no basename`);
    }
    if (isSafe(value)) return value;
    const path = this.#path;
    throw new FormatError(
      "unsafe-name",
      `Cannot read ${path}: ${where} is called ${shown(value)}, ` +
        "which leads out of the dataset's directory: the index is damaged or hostile",
      { path, actual: value },
    );
  }

  /** Returns the number of samples of a shard of so many bytes, which must have room for their offsets. */
  samples(value: unknown, bytes: number, where: string): number {
    if (!isCount(value)) {
      throw this.bad(`the number of samples of ${where} is invalid`);
    }
    if (bytes > LARGEST_SHARD) {
      throw this.bad(
        `${where} has ${bytes} bytes, more than offsets of 32 bits ` +
          `reach (${LARGEST_SHARD})`,
      );
    }
    if (tableSize(value) <= bytes) return value;
    const path = this.#path;
    throw new FormatError(
      "absurd-count",
      `Cannot read ${path}: ${where} has ${value} samples in ` +
        `${bytes} bytes, too few even for their offsets: the index is ` +
        "damaged. Download it again",
      { path, expected: tableSize(value), actual: bytes },
    );
  }

  unsupported(
    why: string,
    facts: { readonly expected?: unknown; readonly actual: unknown },
  ): FormatError {
    const path = this.#path;
    const message = `Cannot read ${path}: ${why}`;
    return new FormatError("unsupported", message, { path, ...facts });
  }

  /** @param why What is there, and the remedy. */
  missing(why: string): FormatError {
    const path = this.#path;
    const message = `Cannot open ${path}: ${why}`;
    return new FormatError("missing-index", message, { path });
  }

  bad(why: string, cause?: unknown): FormatError {
    const path = this.#path;
    const message =
      `Cannot read ${path}: ${why}: it is damaged. Download it again`;
    return new FormatError("bad-index", message, { path, cause });
  }
}

/** Whether a relative path stays below its directory. */
function isSafe(basename: string): boolean {
  return !/[\0\\]/.test(basename) &&
    basename.split("/").every((part) => !["", ".", ".."].includes(part));
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number >= 0;
}

/** Returns a value of an index for messages. */
export function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  return (JSON.stringify(value) ?? "missing").slice(0, 80);
}
