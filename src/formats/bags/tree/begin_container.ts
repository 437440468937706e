import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { warnOnConsole } from "../../../message_text.ts";
import type {
  Container,
  ContainerOptions,
  ServedContainer,
} from "../../../tree/format.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { nameSuffix } from "../../../tree/numbered_names.ts";
import { openBag } from "../bag/open_bag.ts";
import { BagTree } from "./bag_tree.ts";
import {
  type DatasetLocation,
  locateDataset,
  shardPath,
} from "../dataset/dataset_location.ts";
import { DatasetTree } from "./dataset_tree.ts";
import { openShard } from "../dataset/open_shard.ts";
import { describeBag, newSurvey } from "./survey.ts";
import type { DecodedViews } from "./decoded_views.ts";

/** A container of which as much is opened as serving it needs. */
export interface BegunContainer extends Container {
  /**
   * Opens the rest.
   *
   * @throws {FormatError} If it is damaged.
   */
  complete(): Steps<void>;
}

/** Opens a container for other threads to serve, of many shards only the first one. */
export async function openToServe(
  path: string,
  options: ContainerOptions,
): Promise<ServedContainer> {
  const views = options.decoded
    ? new (await import("./decoded_views.ts")).DecodedViews()
    : undefined;
  const begun = await runAsync(beginContainer(path, options, views));
  return { ...begun, complete: () => runAsync(begun.complete()) };
}

/**
 * Opens a bag or a dataset as a tree that can be served at once. Nothing here decodes values: a mount
 * that does not show any need not load what does.
 *
 * @param views Readable views to show beside the values.
 */
export function* beginContainer(
  path: string,
  options: ContainerOptions,
  views: DecodedViews | undefined,
): Steps<BegunContainer> {
  const { storage = LOCAL_DISK, onWarning = warnOnConsole } = options;
  const location = yield* locateDataset(storage, path, onWarning);
  if (location.kind !== "bag") {
    return yield* beginDataset(location, options, views);
  }
  const suffix = nameSuffix(options.ext); // throws, perhaps: before anything is open
  const bag = yield* openBag(location.path, { storage, onWarning });
  const tree = new BagTree(bag, suffix, storage);
  return { tree, info: describeBag(bag), *complete() {} };
}

/** The first shard is opened, the others when they are needed, or when it is completed. */
function* beginDataset(
  location: Exclude<DatasetLocation, { kind: "bag" }>,
  options: ContainerOptions,
  views: DecodedViews | undefined,
): Steps<BegunContainer> {
  const { path } = location;
  const { storage = LOCAL_DISK, onWarning = warnOnConsole } = options;
  const isSharded = location.kind === "shards";
  const shards = isSharded ? location.shards : undefined;
  const survey = newSurvey(isSharded);
  const tree = new DatasetTree({
    path,
    storage,
    shards,
    views,
    lastNode: options.lastNode,
  });
  const add = function* (shard: number): Steps<void> {
    const directory = isSharded ? shardPath(path, shard) : path;
    const opened = yield* openShard(directory, { storage, onWarning });
    try {
      yield* tree.add(shard, opened);
      survey.add(opened);
    } catch (error) {
      opened.close();
      throw error;
    }
  };
  yield* add(0);
  return {
    tree,
    info: survey.info,
    *complete() {
      for (let shard = 1; shard < (shards ?? 1); shard++) {
        if (storage !== LOCAL_DISK) yield* add(shard);
        else yield* inOneGo(() => add(shard));
      }
    },
  };
}

/**
 * Opening a shard takes many small reads of what is mostly in memory: waiting for each takes nearly
 * twice as long as having others wait for all.
 */
function* inOneGo(procedure: () => Steps<void>): Steps<void> {
  yield* perform({
    sync: () => runSync(procedure()),
    async async() {
      while (shouldYield()) await yieldToEventLoop();
      runSync(procedure());
    },
  });
}
