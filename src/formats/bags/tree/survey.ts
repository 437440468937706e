import { BAG } from "../entry.ts";
import type { ContainerInfo } from "../../../tree/format.ts";
import type { Bag } from "../bag/bag.ts";
import type { Shard } from "../dataset/open_shard.ts";

/** What is counted of a key, in all shards. */
interface KeyCount {
  readonly type: string;
  records: number;
  bytes: number;
}

type Part = ContainerInfo["parts"][number];

/** Counts what the shards of a dataset hold, as each of them is opened. */
export class Survey {
  readonly #isSharded: boolean;
  readonly #parts: Part[] = [];
  readonly #keys = new Map<string, KeyCount>();
  #generation = 0;
  #datapoints = 0;
  #files = 0;
  #directories = 0;
  #bytes = 0;

  constructor(isSharded: boolean) {
    this.#isSharded = isSharded;
  }

  add({ path, keys, bags, length, generation, bytes }: Shard): void {
    this.#generation = Math.max(this.#generation, generation);
    this.#datapoints += length;
    this.#bytes += bytes;
    this.#files++; // spec.json
    this.#directories += length + (this.#isSharded ? 1 : 0);
    if (this.#isSharded) this.#parts.push({ path, bytes, samples: length });
    else this.#parts.push(...bags.map(partOf));
    for (const [k, { key, type }] of keys.entries()) {
      const bag = bags[k];
      let count = this.#keys.get(key);
      if (count === undefined) {
        const word = type.isList ? `${type.word}[]` : type.word;
        count = { type: word, records: 0, bytes: 0 };
        this.#keys.set(key, count);
      }
      count.records += bag?.length ?? 0;
      count.bytes += bag?.dataEnd ?? 0;
      this.#files += type.isList ? bag?.length ?? 0 : length;
      this.#directories += type.isList ? length : 0;
    }
  }

  /** What is known of the dataset. Records that several datapoints share are counted once. */
  describe(): ContainerInfo {
    return {
      format: "bags",
      kind: this.#isSharded ? "sharded dataset" : "dataset",
      files: this.#files,
      directories: this.#directories,
      bytes: this.#bytes,
      facts: {
        generation: this.#generation,
        datapoints: this.#datapoints,
        ...(this.#isSharded ? { shards: this.#parts.length } : {}),
      },
      keys: Array.from(this.#keys, ([name, count]) => ({ name, ...count })),
      parts: this.#parts,
    };
  }
}

/** What is known of a single bag. */
export function describeBag(bag: Bag): ContainerInfo {
  const part = partOf(bag);
  return {
    format: "bags",
    kind: BAG,
    files: bag.length,
    directories: 0,
    bytes: part.bytes,
    facts: { generation: bag.generation },
    parts: [part],
  };
}

function partOf({ path, bytes, length }: Bag): Part {
  return { path, bytes, samples: length };
}
