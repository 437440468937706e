import { BAG } from "../entry.ts";
import type { ContainerInfo } from "../../../tree/format.ts";
import type { Bag } from "../bag/bag.ts";
import type { Shard } from "../dataset/open_shard.ts";

type Part = ContainerInfo["parts"][number];

/** What is known of a dataset, and counts what its shards hold, as each of them is opened. */
export function newSurvey(isSharded: boolean): {
  /** Records that several datapoints share are counted once. */
  readonly info: ContainerInfo;
  add(shard: Shard): void;
} {
  const facts: Record<string, number> = { generation: 0, datapoints: 0 };
  const keys = new Map<string, { records: number; bytes: number }>();
  const info = {
    format: "bags",
    kind: isSharded ? "sharded dataset" : "dataset",
    files: 0,
    directories: 0,
    bytes: 0,
    facts,
    keys: [] as NonNullable<ContainerInfo["keys"]>[number][],
    parts: [] as Part[],
  };
  const add = ({ path, keys: own, bags, length, generation, bytes }: Shard) => {
    facts["generation"] = Math.max(facts["generation"]!, generation);
    facts["datapoints"]! += length;
    info.bytes += bytes;
    info.files++; // spec.json
    info.directories += length + (isSharded ? 1 : 0);
    if (isSharded) info.parts.push({ path, bytes, samples: length });
    else info.parts.push(...bags.map(partOf));
    if (isSharded) facts["shards"] = info.parts.length;
    for (const [k, { key, type }] of own.entries()) {
      const bag = bags[k];
      let count = keys.get(key);
      if (count === undefined) {
        const word = type.isList ? `${type.word}[]` : type.word;
        const known = { name: key, type: word, records: 0, bytes: 0 };
        info.keys.push(known);
        keys.set(key, count = known);
      }
      count.records += bag?.length ?? 0;
      count.bytes += bag?.dataEnd ?? 0;
      info.files += type.isList ? bag?.length ?? 0 : length;
      info.directories += type.isList ? length : 0;
    }
  };
  return { info, add };
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
