import { arrayFromBytes } from "../../codecs/numpy/array_bytes.ts";
import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { npyHeader } from "../../codecs/numpy/npy.ts";
import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { MemberSources } from "../archive/member_sources.ts";
import { PiecedFile } from "../archive/pieced_file.ts";
import { JoinedSources } from "../joined_sources.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../samples/samples.ts";
import { ShardTable } from "../samples/shard_table.ts";
import { type Extent, placeBytes, placeRange, type Tree } from "../tree.ts";

/** Most dimensions of NumPy. */
export const MOST_DIMENSIONS = 64;

/** Array in a file, by a name. */
export interface NamedArray {
  readonly name: string;
  /** The container's name of the element type. */
  readonly dtype: string;
  /** NumPy's name of the element type, if it has one. */
  readonly numpy: string | undefined;
  /** Bits of an element. */
  readonly bits: number;
  readonly shape: readonly number[];
  /** Range of the elements in the file: little-endian, in C order. */
  readonly offset: number;
  readonly length: number;
}

/** File of named arrays. Plain data, and tables in memory that threads share. */
export interface ArrayFile extends KnownFile {
  /** Number of its arrays. */
  readonly count: number;
  /** What it says besides, as JSON. */
  readonly metadata?: string | undefined;
}

/** How a format finds the arrays of its files. */
export interface ArrayFormat<F extends ArrayFile> {
  readonly name: string;
  /** Name of the files of metadata, without `.json`. */
  readonly metadataName: string;
  /** Word for an array in messages. */
  readonly unit: string;
  arrayOf(file: F, number: number): NamedArray;
  /** Describes samples for another thread. */
  share(files: readonly F[]): SamplesHandle;
}

const NAME = { name: "name", type: VALUE_TYPES.text, isList: false };
const VALUE = { name: "value", type: VALUE_TYPES.array, isList: false };

/** Stored values by field name. */
type ArrayBytes = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** Named arrays of files as samples, each of the fields `name` and `value`. */
export class ArraySamples<F extends ArrayFile> implements Samples<ArrayBytes> {
  readonly unit: string;
  readonly fields: readonly Field[] = [NAME, VALUE];
  readonly stores = "fields";
  readonly sources: readonly ByteSource[];
  readonly shards: ShardTable<F>;
  readonly storage: Storage;
  readonly #format: ArrayFormat<F>;

  /** @param lost Files that are skipped. */
  constructor(
    format: ArrayFormat<F>,
    sources: readonly ByteSource[],
    files: readonly F[],
    storage: Storage,
    lost?: ShardTable["lost"],
  ) {
    this.unit = format.unit;
    this.sources = sources;
    this.shards = new ShardTable(files, ({ count }) => count, lost);
    this.storage = storage;
    this.#format = format;
  }

  arrayAt(index: number): NamedArray {
    const { shards } = this;
    return this.#format.arrayOf(shards.of(index), shards.numberOf(index));
  }

  *read(
    indices: readonly number[],
    { fields = [NAME.name, VALUE.name], memory }: ReadSamplesOptions,
  ): Steps<ArrayBytes[]> {
    const contents = fields.includes(VALUE.name)
      ? yield* readContents(this.#contents(indices), memory)
      : [];
    return indices.map((index, i) => ({
      ...fields.includes(NAME.name)
        ? { name: new TextEncoder().encode(this.arrayAt(index).name) }
        : {},
      ...contents[i] === undefined ? {} : { value: contents[i] },
    }));
  }

  decode(
    index: number,
    { name, value }: ArrayBytes,
  ): { readonly name?: string; readonly value?: NdArray } {
    const array = this.arrayAt(index);
    return {
      ...name === undefined ? {} : { name: array.name },
      ...value === undefined ? {} : { value: ndArrayOf(array, value) },
    };
  }

  // deno-lint-ignore require-yield -- the tables say it
  *portable(): Steps<PortableSamples<ArrayBytes>> {
    return {
      fields: this.fields,
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (index, raw) => this.decode(index, raw),
    };
  }

  unstackable(fields: readonly string[] = [VALUE.name]): string | undefined {
    const { length } = this.shards;
    if (!fields.includes(VALUE.name) || length === 0) return undefined;
    const first = this.arrayAt(0);
    for (let index = 1; index < length; index++) {
      const other = this.arrayAt(index);
      if (wordOf(other) === wordOf(first)) continue;
      return `'${first.name}' is ${wordOf(first)} and '${other.name}' is ${
        wordOf(other)
      }`;
    }
    return undefined;
  }

  locate(index: number, into: Extent): void {
    const { offset, length } = this.arrayAt(index);
    placeRange(this.shards.shardOf(index), offset, length, into);
  }

  /** Returns the sources of the samples' files in a tree: `.npy` files, each with a start that is made. */
  treeSources(isOwner: boolean): Tree["sources"] {
    const { sources, storage } = this;
    const own = isOwner ? sources : [];
    const [archive] = sources;
    return archive === undefined
      ? own
      : new JoinedSources(sources.length, own, [
        new MemberSources({ archive, storage }, (index) => this.#made(index)),
      ]);
  }

  /** Locates the file of a name, or of an array, which is raw where NumPy lacks the type. */
  placeFile(index: number, field: number, into: Extent): void {
    const array = this.arrayAt(index);
    if (field === 0) {
      return placeBytes(new TextEncoder().encode(array.name), into);
    }
    const head = headOf(array);
    if (array.length === 0) return placeBytes(head, into);
    const made = this.sources.length + index;
    placeRange(made, 0, head.length + array.length, into);
  }

  prefetch(
    indices: readonly number[],
    { fields = [VALUE.name] }: ReadSamplesOptions,
  ): number {
    return fields.includes(VALUE.name)
      ? prefetchContents(this.#contents(indices))
      : 0;
  }

  share(): SamplesHandle {
    return this.#format.share(this.shards.shards);
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  #made(index: number): PiecedFile | undefined {
    const { sources, shards } = this;
    if (!(index < shards.length)) return undefined;
    const array = this.arrayAt(index);
    const { name, offset, length } = array;
    const head = headOf(array);
    const archive = sources[shards.shardOf(index)]!;
    return new PiecedFile(archive, () => name, head.length + length, {
      offsets: Float64Array.of(head.length),
      lengths: Float64Array.of(length),
      places: Float64Array.of(offset),
    }, head);
  }

  #contents(indices: readonly number[]) {
    return {
      sources: this.sources,
      length: indices.length,
      locate: (i: number, into: Extent) => this.locate(indices[i]!, into),
    };
  }
}

/** Returns an array whose elements are raw bytes if NumPy has no type for them; bytes alone if these are shared. */
function ndArrayOf(
  { numpy, bits, shape }: NamedArray,
  bytes: Uint8Array,
): NdArray {
  return bits % 8 === 0
    ? arrayFromBytes(numpy ?? `|V${bits / 8}`, shape, bytes)
    : arrayFromBytes("|V1", [bytes.length], bytes);
}

/** Returns the start of an array's `.npy` file; without its shape where NumPy has not as many dimensions. */
function headOf({ numpy, bits, shape, length }: NamedArray): Uint8Array {
  const isShaped = bits % 8 === 0 && shape.length <= MOST_DIMENSIONS;
  return isShaped
    ? npyHeader(numpy ?? `|V${bits / 8}`, shape)
    : npyHeader("|V1", [length]);
}

function wordOf({ dtype, shape }: NamedArray): string {
  return `${dtype} of shape (${shape.join(", ")})`;
}
