import { FormatError, RecordfsError } from "../../base/errors.ts";
import { messageOf } from "../../base/message_text.ts";
import { formatNumber } from "../../codecs/json/format.ts";
import { decodeAs, decodePortable } from "../../codecs/values/decode_value.ts";
import { LruCache } from "../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../io/read/read_memory.ts";
import { fillSync } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { atOnce } from "../not_loaded.ts";
import { PagedFile } from "../paged_file.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import { type Extent, newExtent, placeBytes, type Tree } from "../tree.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "./samples.ts";
import type { ShardTable } from "./shard_table.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Stored form of a sample: its content, or the bytes of its fields by name. */
export type StoredSample = Bytes | Readonly<Record<string, Bytes>>;

/** A number, or numbers, of a field. */
export type FieldNumbers = number | bigint | Float32Array;

type Decode = typeof decodeAs;

const UTF8 = new TextEncoder();

/** Most bytes of a packed sample that is read into reused memory. */
const MOST_ROOM = 1 << 20;

/** Bytes of samples that are cached for reads of their files. */
const MOST_SHOWN = 16 << 20;

/**
 * Samples that are one range of a file each, which a format unpacks: to a content of unknown type, or to fields. All
 * have the same fields.
 *
 * @typeParam S Files with samples.
 */
export abstract class RangeSamples<S extends KnownFile>
  implements Samples<StoredSample, unknown> {
  readonly unit = "record";
  readonly fields: readonly Field[];
  readonly stores: "content" | "fields";
  readonly shards: ShardTable<S>;
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  readonly #pages: PagedFile[] = [];
  readonly #shown = new LruCache<StoredSample>(MOST_SHOWN);
  readonly #extent = newExtent();
  #room = new Uint8Array(0);
  readonly readNow?: (index: number) => StoredSample;
  readonly portable?: () => Steps<PortableSamples<StoredSample>>;

  /**
   * @param sources The files of the shards; closed with the samples.
   * @param fields Fields of each sample; none if samples are contents.
   */
  constructor(
    sources: readonly ByteSource[],
    shards: ShardTable<S>,
    storage: Storage,
    fields: readonly Field[] = [],
  ) {
    this.sources = sources;
    this.shards = shards;
    this.storage = storage;
    this.fields = fields;
    this.stores = fields.length === 0 ? "content" : "fields";
    if (fields.length > 0) this.portable = () => this.#portable();
    const areLocal = sources.every(({ readAtSync }) => readAtSync);
    if (areLocal) this.readNow = (index) => this.#readNow(index);
  }

  /** Locates the range of a sample. */
  abstract locate(index: number, into: Extent): void;

  abstract share(): SamplesHandle;

  /** Returns what a range stores, in memory of its own or as a view of the range. */
  protected abstract unpackNow(index: number, range: Bytes): StoredSample;

  /** {@linkcode RangeSamples.unpackNow} of a batch, in memory that the caller may give. */
  // deno-lint-ignore require-yield -- some formats have to wait
  protected *unpack(
    indices: readonly number[],
    ranges: Bytes[],
    _memory: BatchRoom | undefined,
  ): Steps<StoredSample[]> {
    return ranges.map((range, i) => this.unpackNow(indices[i]!, range));
  }

  /** Locates the range of a sample that is read without waiting. */
  protected locateNow(index: number, into: Extent): void {
    this.locate(index, into);
  }

  /** Whether a range is only decoded, so that its memory may be used again. */
  protected isPacked(_index: number, _length: number): boolean {
    return false;
  }

  /** Decodes a field whose bytes are numbers; returns `undefined` for others, which are decoded by their type. */
  protected numbersIn(
    _field: string,
    _bytes: Bytes,
  ): FieldNumbers | undefined {
    return undefined;
  }

  /** Returns the sources of the samples' files in a tree; those that are open belong to one thread. */
  treeSources(isOwner: boolean): Tree["sources"] {
    return isOwner ? this.sources : [];
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<StoredSample[]> {
    this.#requireFields(fields);
    const ranges = yield* this.readRanges(indices, memory);
    const samples = yield* this.unpack(indices, ranges, memory);
    return fields === undefined || this.fields.length === 0
      ? samples
      : samples.map((sample) => chosen(sample as Chosen, fields));
  }

  decode(index: number, stored: StoredSample): unknown {
    return stored instanceof Uint8Array
      ? stored
      : this.#decode(index, stored, decodeAs);
  }

  prefetch(indices: readonly number[]): number {
    return prefetchContents({
      sources: this.sources,
      length: indices.length,
      locate: (i, into) => this.locate(indices[i]!, into),
    });
  }

  /** Locates the file of a content or field, numbers as JSON. May throw `NotLoaded`. */
  placeFile(index: number, field: number, into: Extent): void {
    const { path } = this.shards.of(index);
    const sample = atOnce(path, () => this.#sample(index));
    if (sample instanceof Uint8Array) return placeBytes(sample, into);
    const { name } = this.fields[field]!;
    const bytes = sample[name]!;
    const numbers = this.numbersIn(name, bytes);
    if (numbers === undefined) return placeBytes(bytes, into);
    const text = typeof numbers === "object"
      ? `[${Array.from(numbers, formatNumber).join(", ")}]`
      : formatNumber(numbers);
    placeBytes(UTF8.encode(`${text}\n`), into);
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  #readNow(index: number): StoredSample {
    const extent = this.#extent;
    this.locateNow(index, extent);
    const { length } = extent;
    const isReused = length <= MOST_ROOM && this.isPacked(index, length);
    const range = isReused ? this.#roomFor(length) : new Uint8Array(length);
    fillSync(this.sources[extent.source]!, range, extent.offset, false);
    return this.unpackNow(index, range);
  }

  #roomFor(length: number): Bytes {
    if (this.#room.length < length) {
      this.#room = new Uint8Array(Math.min(2 * length, MOST_ROOM));
    }
    return this.#room.subarray(0, length);
  }

  /** Reads a sample whose files are asked for, one after the other and in parts. */
  *#sample(index: number): Steps<StoredSample> {
    const known = this.#shown.get(index);
    if (known !== undefined) return known;
    const [sample] = yield* this.read([index], {});
    const parts = sample instanceof Uint8Array
      ? [sample]
      : Object.values(sample!);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    this.#shown.set(index, sample!, bytes);
    return sample!;
  }

  /** Reads the first bytes of a range of a local or remote file, through cached pages. May throw `NotLoaded`. */
  protected headOf({ source, offset, length }: Extent, most: number): DataView {
    const head = new Uint8Array(Math.min(most, length));
    const pages = this.#pages[source] ??= new PagedFile(
      this.sources[source]!,
      0,
    );
    pages.copy(head, offset, head.length);
    return new DataView(head.buffer);
  }

  /** Reads the ranges of samples. */
  protected readRanges(
    indices: readonly number[],
    memory: BatchRoom | undefined,
  ): Steps<Bytes[]> {
    return readContents({
      sources: this.sources,
      length: indices.length,
      locate: (i, into) => this.locate(indices[i]!, into),
    }, memory);
  }

  /** Makes the error of a damaged sample. */
  protected fault(
    index: number,
    why: string,
    code: FormatError["code"] = "bad-structure",
    cause?: unknown,
  ): FormatError {
    const { path } = this.shards.of(index);
    const number = this.shards.numberOf(index);
    return new FormatError(
      code,
      `Cannot read ${this.unit} ${number} of ${path}: ${why}. Download the file again`,
      { path, sample: index, cause },
    );
  }

  // deno-lint-ignore require-yield -- fields are known
  *#portable(): Steps<PortableSamples<StoredSample>> {
    return {
      fields: this.fields,
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (index, stored) =>
        this.#decode(index, stored as Chosen, decodePortable),
    };
  }

  async #decode(
    index: number,
    stored: Chosen,
    decode: Decode,
  ): Promise<SampleValues> {
    const sample: Record<string, unknown> = {};
    for (const { name, type } of this.fields) {
      const bytes = stored[name];
      if (bytes === undefined) continue; // not requested
      try {
        sample[name] = this.numbersIn(name, bytes) ??
          await decode(type.decoding, bytes);
      } catch (cause) {
        const why = `its field '${name}' cannot be decoded: ${
          messageOf(cause)
        }`;
        throw this.fault(index, why, "bad-value", cause);
      }
    }
    return sample;
  }

  #requireFields(wanted: readonly string[] | undefined): void {
    const names = this.fields.map(({ name }) => name);
    const unknown = wanted?.find((name) => !names.includes(name));
    if (unknown === undefined || names.length === 0) return;
    const path = this.shards.name;
    throw new RecordfsError(
      "no-column",
      `Cannot read the field '${unknown}' of ${path}: there is no such field, only ${
        names.join(", ")
      }`,
      { path, actual: unknown },
    );
  }
}

type Chosen = Exclude<StoredSample, Uint8Array>;

function chosen(sample: Chosen, fields: readonly string[]): Chosen {
  return Object.fromEntries(fields.map((field) => [field, sample[field]!]));
}
