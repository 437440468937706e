import type { Steps } from "../../../io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { BagRecords } from "../read/bag_records.ts";
import { BagsSamples } from "../read/bags_samples.ts";
import { ShardReader } from "../read/shard_reader.ts";
import { beginContainer } from "./begin_container.ts";
import { DecodedViews } from "./decoded_views.ts";

/** Opens a container completely, so that damage is found now. */
export function* openBags(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const views = options.decoded ? new DecodedViews() : undefined;
  const { tree, info, complete } = yield* beginContainer(path, options, views);
  try {
    const opened = yield* complete();
    if ("bag" in opened) {
      return { tree, samples: new BagRecords(opened.bag, storage), info };
    }
    const { sources, sound, lost, fields } = opened;
    const samples = new BagsSamples({
      path,
      shards: new ShardTable(sound, ({ length }) => length, lost),
      ofSeveral: sound.length + lost.length > 1,
      fields,
      readers: [],
      *open(at) {
        const { number, length } = sound[at]!;
        const { shard } = yield* sources.lend(number);
        return new ShardReader(shard, {}, length);
      },
    }, { storage });
    return { tree, samples, info };
  } catch (error) {
    tree.close();
    throw error;
  }
}
