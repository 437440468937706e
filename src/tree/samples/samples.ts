import type { Steps } from "../../io/concurrency/steps.ts";
import type { BatchReadOptions } from "../../io/read/read_memory.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import type { Extent } from "../tree.ts";
import type { ShardTable } from "./shard_table.ts";

/** Options for reading a batch of samples. */
export interface ReadSamplesOptions extends Pick<BatchReadOptions, "memory"> {
  /** Names of the fields to read; defaults to all. */
  readonly fields?: readonly string[] | undefined;
}

/** Field of samples. */
export interface Field {
  /** Name of the field. */
  readonly name: string;
  /** Type of its values; for lists, of their elements. */
  readonly type: ValueType;
  /** Whether a value is a list, which appears as a directory. */
  readonly isList: boolean;
}

/** A sample: its values by field name. */
export type SampleValues = Readonly<Record<string, unknown>>;

/** Samples in the form in which other formats store them. */
export interface PortableSamples<R = unknown> {
  /** Fields of all samples. A sample may lack some, and a value may be `null`. */
  readonly fields: readonly Field[];
  /** Number of samples that lack each field, if that is known without reading. */
  readonly missing?: ReadonlyMap<string, number> | undefined;
  /** Whether values may be `null`, which only reading can tell. */
  readonly isNullable: boolean;
  /** Reads samples as {@linkcode Samples.read} does. */
  read(indices: readonly number[], options: ReadSamplesOptions): Steps<R[]>;
  /**
   * Decodes a read sample to values that other formats can store: numbers, texts and arrays; plain data as
   * `parseExactJson`, and `readMsgpack` with `keepFloats`, return it, so that `1.0` stays a float; bytes; and encoded
   * pictures, videos and pickles. A list is an array or an iterable of such values.
   *
   * @throws {FormatError} If the value is invalid.
   */
  decode(index: number, raw: R): SampleValues | Promise<SampleValues>;
}

/** Data from which another thread rebuilds samples. It survives `postMessage` without copying tables. */
export interface SamplesHandle {
  /**
   * URL of the module that exports `reopenSamples(data, storage): Steps<Samples>`, which rebuilds the samples over the
   * same tables and throws a `FormatError` if a file has changed.
   */
  readonly module: string;
  /** Argument of `reopenSamples`: plain data, and tables in shared memory. */
  readonly data: unknown;
}

/**
 * Rebuilds samples in another thread, over the same tables.
 *
 * @throws {FormatError} If a file has changed.
 */
export type ReopenSamples = (data: never, storage: Storage) => Steps<Samples>;

/**
 * Numbered samples: the counterpart of `Tree`. They are immutable, and read in batches in any order.
 *
 * @typeParam R Stored form of a sample: its bytes, or bytes or values by field name.
 * @typeParam D Decoded form.
 */
export interface Samples<R = unknown, D = unknown> {
  /** Word for one sample in messages, such as `record`. */
  readonly unit: string;
  /** Fields of decoded samples; `undefined` if they vary by sample. Samples without fields are untyped bytes. */
  readonly fields: readonly Field[] | undefined;
  /** Whether a sample is stored as one content, or as its fields. */
  readonly stores: "content" | "fields";
  /** Files that contain the samples. */
  readonly shards: ShardTable;
  /** Storage of these files. */
  readonly storage: Storage;
  /**
   * Reads samples.
   *
   * @param indices Each from 0 to `shards.length - 1`, in any order, repeats allowed.
   * @throws {FormatError} If a sample is damaged.
   */
  read(indices: readonly number[], options: ReadSamplesOptions): Steps<R[]>;
  /**
   * Reads one sample without waiting, and without a procedure, which costs as much as a small sample. Absent if it
   * cannot be read so.
   *
   * @param index From 0 to `shards.length - 1`.
   * @throws {FormatError} If the sample is damaged.
   */
  readNow?: ((index: number) => R) | undefined;
  /**
   * Decodes a read sample.
   *
   * @param fields Names of the fields to decode; defaults to all that were read.
   * @throws {FormatError} If the value is invalid.
   */
  decode(
    index: number,
    raw: R,
    fields?: readonly string[],
  ): D | Promise<D>;
  /**
   * Returns the value of a field in a decoded sample, or `undefined`. Absent if a decoded sample is an object keyed by
   * field name.
   */
  valueIn?(sample: D, field: string): unknown;
  /** Returns the key of a sample in the container. Absent if samples have no keys; either all have one or none. */
  readonly keyOf?: ((index: number) => string) | undefined;
  /** Returns the file that a sample is. Absent if samples are in shards, which have paths. */
  readonly fileOf?: ((index: number) => string) | undefined;
  /**
   * Says where a sample lies, in the shard of that number; left out where samples are not stored as one piece each.
   *
   * @throws {FormatError} If the table that says it is damaged.
   * @throws {NotLoaded} If that has to be fetched first.
   */
  locate?(index: number, into: Extent): void;
  /**
   * Finds out how the samples are given to other formats; left out where they are bytes without fields, or files.
   *
   * @throws {FormatError} If shards disagree about the type of a field.
   */
  portable?(): Steps<PortableSamples<R>>;
  /**
   * Prefetches samples that will be read soon, if the files are on a server.
   *
   * @returns Number of bytes that are in flight or cached.
   */
  prefetch(indices: readonly number[], options: ReadSamplesOptions): number;
  /**
   * Returns views of stored contents in memory maps of their files, verified against their checksums. Absent if views
   * are not possible.
   *
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped.
   */
  readonly views?:
    | ((indices: readonly number[]) => Uint8Array<ArrayBuffer>[])
    | undefined;
  /**
   * Says why a batch of decoded samples cannot be stacked, naming two that differ; `undefined` if it can. Absent if only
   * reading tells.
   *
   * @param fields Names of the fields to read; defaults to all.
   */
  readonly unstackable?:
    | ((fields?: readonly string[]) => string | undefined)
    | undefined;
  /** Describes the samples for another thread. */
  share(): SamplesHandle;
  /** Closes the files. Samples that were read stay valid. */
  close(): void;
}
