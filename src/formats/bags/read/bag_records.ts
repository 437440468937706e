import type { Steps } from "../../../io/concurrency/steps.ts";
import { GrowingMemory, placesIn } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import { changedFile } from "../../../io/storage/changed_file.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { prefetchContents } from "../../../tree/read_contents.ts";
import type { Extent } from "../../../tree/tree.ts";
import type {
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Bag } from "../bag/bag.ts";
import { openBag } from "../bag/open_bag.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import type { Raw } from "./column.ts";

/** Data that other threads need to open a bag. */
export interface BagSeed {
  readonly path: string;
  readonly generation: Generation;
  /** Path of the index, if it is a separate file. */
  readonly index: string | undefined;
  /** Number of records to show: a bag of generation 3 may have grown. */
  readonly length: number;
}

export class BagRecords implements Samples<Raw, Raw> {
  readonly unit = "record";
  readonly fields = [];
  readonly stores = "content";
  readonly shards: ShardTable<Bag>;
  readonly storage: Storage;
  readonly bag: Bag;
  #isClosed = false;

  /** @param bag Closed with the samples. */
  constructor(bag: Bag, storage: Storage) {
    this.bag = bag;
    this.storage = storage;
    this.shards = new ShardTable([bag], ({ length }) => length);
  }

  *read(
    indices: readonly number[],
    { memory }: ReadSamplesOptions,
  ): Steps<Raw[]> {
    this.requireOpen();
    const slices = yield* this.bag.slicesOf(indices);
    const sources = [this.bag.data];
    if (!(memory instanceof GrowingMemory)) {
      const places = memory && placesIn(memory, slices);
      return yield* readSlices(sources, slices, undefined, places);
    }
    memory.take(0);
    return yield* readSlices(sources, slices, undefined, memory);
  }

  decode(_index: number, record: Raw): Raw {
    return record;
  }

  locate(index: number, into: Extent): void {
    this.bag.place(index, 0, into);
  }

  prefetch(indices: readonly number[]): number {
    return prefetchContents({
      sources: [this.bag.data],
      length: indices.length,
      locate: (i, into) => this.bag.place(indices[i]!, 0, into),
    });
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: seedOf(this.bag) };
  }

  close(): void {
    this.#isClosed = true;
    this.bag.close();
  }

  requireOpen(): void {
    requireOpen(this.bag.path, this.#isClosed);
  }
}

/** Describes a bag for other threads, which open it with {@linkcode reopenBag}. */
export function seedOf(bag: Bag): BagSeed {
  const { path, generation, length, source } = bag;
  const index = bag.index === source ? undefined : bag.index.name;
  return { path, generation, index, length };
}

/** Opens a bag that another thread has opened. Throws `changed` if it has changed; generation 3 may have grown. */
export function* reopenBag(
  { path, generation, index, length }: BagSeed,
  storage: Storage,
): Steps<Bag> {
  const bag = yield* openBag(path, { generation, index, storage });
  const isSame = generation === 3
    ? bag.length >= length
    : bag.length === length;
  if (isSame) return bag;
  bag.close();
  throw changedFile(path);
}

export function* reopenSamples(
  seed: BagSeed,
  storage: Storage,
): Steps<BagRecords> {
  return new BagRecords(yield* reopenBag(seed, storage), storage);
}
