import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { fillSync } from "../../io/read/read_part.ts";
import { reopenSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { memberError } from "../archive/member_error.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import type { LostShard } from "../samples/open_shards.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../samples/samples.ts";
import { ShardTable } from "../samples/shard_table.ts";
import { type Extent, newExtent } from "../tree.ts";
import { type KeyedFile, KeyedTree } from "./keyed_tree.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Fields of values in other formats. */
const FIELDS: readonly Field[] = [
  { name: "key", type: VALUE_TYPES.text, isList: false },
  { name: "value", type: VALUE_TYPES.bytes, isList: false },
];

interface Seed {
  readonly files: readonly KeyedFile[];
  readonly lost: readonly LostShard[];
}

/** Values of key-value stores as samples, in the order of the stores' records. */
export class KeyedSamples implements Samples<Bytes> {
  readonly unit = "value";
  readonly fields = [];
  readonly stores = "content";
  readonly shards: ShardTable<KeyedFile>;
  readonly storage: Storage;
  readonly #trees: readonly KeyedTree[];
  readonly #sources: readonly ByteSource[];
  readonly #extent = newExtent();

  /** @param trees With their sources, which closing the samples closes. */
  constructor(
    trees: readonly KeyedTree[],
    storage: Storage,
    lost: readonly LostShard[],
  ) {
    this.#trees = trees;
    this.#sources = trees.flatMap(({ sources }) => sources);
    this.storage = storage;
    this.shards = new ShardTable(
      trees.map(({ file }) => file),
      ({ columns }) => columns.lengths.length,
      lost,
    );
  }

  read(
    indices: readonly number[],
    { memory }: ReadSamplesOptions,
  ): Steps<Bytes[]> {
    return readContents(this.#contentsOf(indices), memory);
  }

  readonly readNow = (index: number): Bytes => {
    const extent = this.#extent;
    this.locate(index, extent);
    const bytes = new Uint8Array(extent.length);
    fillSync(this.#sources[extent.source]!, bytes, extent.offset, false);
    return bytes;
  };

  decode(_index: number, bytes: Bytes): Bytes {
    return bytes;
  }

  keyOf(index: number): string {
    const shard = this.shards.shardOf(index);
    return this.#trees[shard]!.keyOf(index - this.shards.firsts[shard]!);
  }

  locate(index: number, into: Extent): void {
    const shard = this.shards.shardOf(index);
    const record = index - this.shards.firsts[shard]!;
    this.#trees[shard]!.locateRecord(record, into);
    into.source = shard;
  }

  /** Gives values with their keys. */
  // deno-lint-ignore require-yield -- nothing has to be read
  *portable(): Steps<PortableSamples<Bytes>> {
    return {
      fields: FIELDS,
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (index, value) => ({ key: this.#textKeyOf(index), value }),
    };
  }

  prefetch(indices: readonly number[]): number {
    return prefetchContents(this.#contentsOf(indices));
  }

  share(): SamplesHandle {
    const { shards: files, lost } = this.shards;
    const data: Seed = { files, lost };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const tree of this.#trees) tree.close();
  }

  #textKeyOf(index: number): string {
    const key = this.keyOf(index);
    if (key.isWellFormed()) return key;
    const { path } = this.shards.of(index);
    throw memberError(
      "bad-value",
      path,
      key,
      "its key is not UTF-8. Convert to files, whose names may be any bytes",
      { sample: index },
    );
  }

  #contentsOf(indices: readonly number[]) {
    return {
      sources: this.#sources,
      length: indices.length,
      locate: (i: number, into: Extent) => this.locate(indices[i]!, into),
    };
  }
}

/** Opens stores that another thread has opened, sharing its tables. */
export function* reopenSamples(
  { files, lost }: Seed,
  storage: Storage,
): Steps<KeyedSamples> {
  const sources = yield* reopenSources(storage, files);
  const trees = files.map((file, i) => {
    const { offset, bytes } = file.guard;
    sources[i]!.guard?.(offset, bytes);
    return new KeyedTree(file, [sources[i]!]);
  });
  return new KeyedSamples(trees, storage, lost);
}
