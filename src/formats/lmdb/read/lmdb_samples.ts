import { VALUE_TYPES } from "../../../codecs/values/value_type.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { prefetchContents, readContents } from "../../../tree/read_contents.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Extent } from "../../../tree/tree.ts";
import { LmdbTree } from "../tree/lmdb_tree.ts";
import type { LmdbFile } from "./open_index.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Fields of values in other formats. */
const FIELDS: readonly Field[] = [
  { name: "key", type: VALUE_TYPES.text, isList: false },
  { name: "value", type: VALUE_TYPES.bytes, isList: false },
];

interface Seed {
  readonly files: readonly LmdbFile[];
  readonly lost: readonly LostShard[];
}

/** Values of databases as samples, in the order of their keys; those of named databases after the others. */
export class LmdbSamples implements Samples<Bytes> {
  readonly unit = "value";
  readonly fields = [];
  readonly stores = "content";
  readonly shards: ShardTable<LmdbFile>;
  readonly storage: Storage;
  readonly #trees: readonly LmdbTree[];
  readonly #sources: readonly ByteSource[];

  /** @param trees With their sources, which closing the samples closes. */
  constructor(
    trees: readonly LmdbTree[],
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

  decode(_index: number, bytes: Bytes): Bytes {
    return bytes;
  }

  keyOf(index: number): string {
    const shard = this.shards.shardOf(index);
    return this.#trees[shard]!.keyOf(index - this.shards.firsts[shard]!);
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

  locate(index: number, into: Extent): void {
    const shard = this.shards.shardOf(index);
    const record = index - this.shards.firsts[shard]!;
    this.#trees[shard]!.locateRecord(record, into);
    into.source = shard;
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

/** Opens databases that another thread has opened, sharing its tables. */
export function* reopenSamples(
  { files, lost }: Seed,
  storage: Storage,
): Steps<LmdbSamples> {
  const sources = yield* reopenSources(storage, files);
  const trees = files.map((file, i) => {
    const { offset, bytes } = file.meta;
    sources[i]!.guard?.(offset, bytes);
    return new LmdbTree(file, [sources[i]!]);
  });
  return new LmdbSamples(trees, storage, lost);
}
