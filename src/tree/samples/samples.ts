import type { Steps } from "../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../io/read/read_memory.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import type { Extent } from "../tree.ts";
import type { ShardTable } from "./shard_table.ts";

/** How a batch of samples is read. */
export interface ReadSamplesOptions {
  /** Names of the fields that are wanted; all, unless given. */
  readonly fields?: readonly string[] | undefined;
  /** What the bytes are read into; memory of their own, unless given. */
  readonly memory?: BatchRoom | undefined;
}

/** A field of samples. */
export interface Field {
  /** What samples call it. */
  readonly name: string;
  /** What its values are; of lists, what their elements are. */
  readonly type: ValueType;
  /** Whether a value is a list of such, which is shown as a directory. */
  readonly isList: boolean;
}

/** A sample: its values by the names of its fields. */
export type SampleValues = Readonly<Record<string, unknown>>;

/** How samples are given to other formats. */
export interface PortableSamples<R = unknown> {
  /** The fields of all samples; a sample may lack some, and a value may be `null`. */
  readonly fields: readonly Field[];
  /** How many samples lack a field, by its name, where reading is not needed to know. */
  readonly missing?: ReadonlyMap<string, number> | undefined;
  /** Whether any value may be `null`, which only reading tells. */
  readonly isNullable: boolean;
  /** Reads samples as {@linkcode Samples.read} does. */
  read(indices: readonly number[], options: ReadSamplesOptions): Steps<R[]>;
  /**
   * Decodes what was read of a sample to what other formats can store: numbers, texts and arrays; plain data as
   * `parseExactJson` and `readMsgpack` with `keepFloats` have it, so that `1.0` stays a float; bytes, and pictures, videos
   * and pickles as they are encoded. A value of a list is an array, or an iterable, of such.
   *
   * @throws {FormatError} If it is no such value.
   */
  decode(index: number, raw: R): SampleValues | Promise<SampleValues>;
}

/** What another thread makes the same samples of: it survives `postMessage`, without copying tables. */
export interface SamplesHandle {
  /** URL of the module, which exports `reopenSamples`: a {@linkcode ReopenSamples}. */
  readonly module: string;
  /** What that is called with: plain data, and tables in shared memory. */
  readonly data: unknown;
}

/**
 * Makes samples in another thread, over the same tables.
 *
 * @throws {FormatError} If a file is not the same any more.
 */
export type ReopenSamples = (data: never, storage: Storage) => Steps<Samples>;

/**
 * Numbered samples: what `Tree` is for files, this is for samples. They do not change, and are read in batches, in any
 * order.
 *
 * @typeParam R What is stored of a sample: its bytes, or bytes or values by the names of its fields.
 * @typeParam D What a program works with.
 */
export interface Samples<R = unknown, D = unknown> {
  /** What messages call one, such as `record`. */
  readonly unit: string;
  /**
   * The fields of decoded samples; `undefined` where each sample has its own. Samples without fields are bytes of which
   * nobody says what they are.
   */
  readonly fields: readonly Field[] | undefined;
  /** Whether a sample is stored as one content, or as its fields. */
  readonly stores: "content" | "fields";
  /** The files that they lie in. */
  readonly shards: ShardTable;
  /** Where these lie. */
  readonly storage: Storage;
  /**
   * Reads samples.
   *
   * @param indices Each from 0 to `shards.length - 1`, in any order, repeats allowed.
   * @throws {FormatError} If one is damaged.
   */
  read(indices: readonly number[], options: ReadSamplesOptions): Steps<R[]>;
  /**
   * Decodes what was read of a sample.
   *
   * @param fields Names of the fields that are wanted; all that were read, unless given.
   * @throws {FormatError} If it is no such value.
   */
  decode(
    index: number,
    raw: R,
    fields?: readonly string[],
  ): D | Promise<D>;
  /**
   * The value of a decoded sample's field, where it is one; `undefined` where there is none. Left out where a sample is an
   * object of its values, by their fields.
   */
  valueIn?(sample: D, field: string): unknown;
  /** What the container calls a sample, where its samples have names: all have, or none. */
  readonly keyOf?: ((index: number) => string) | undefined;
  /** The file that a sample is; left out where a sample is in a shard, which has a path. */
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
   * Prefetches samples that will be read soon, where the files lie on a server.
   *
   * @returns Number of bytes that are in flight, or cached.
   */
  expect(indices: readonly number[], options: ReadSamplesOptions): number;
  /**
   * Returns views of stored contents in memory maps of their files, compared with their checksums; left out where none
   * can be given.
   *
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped.
   */
  readonly views?:
    | ((indices: readonly number[]) => Uint8Array<ArrayBuffer>[])
    | undefined;
  /** Describes them for other threads. */
  share(): SamplesHandle;
  /** Closes the files. What was read stays valid. */
  close(): void;
}
