import { isOthersTurn, otherTasks } from "../../io/event_loop.ts";
import { perform, runSync, type Steps } from "../../io/steps.ts";
import type {
  Container,
  ContainerOptions,
  Format,
  Probe,
  ServedContainer,
} from "../../tree/format.ts";
import { nameSuffix } from "../../tree/numbered_names.ts";
import { openBag } from "./bag_file.ts";
import { BagTree } from "./bag_tree.ts";
import { checkBags } from "./check.ts";
import {
  type DatasetLocation,
  isDatasetFile,
  locateDataset,
  shardPath,
} from "./dataset_location.ts";
import { DatasetTree } from "./dataset_tree.ts";
import { DecodedViews } from "./decoded_views.ts";
import { openDataset } from "./open_dataset.ts";
import { SHARD_NAME } from "./shard_names.ts";
import { describeBag, Survey } from "./survey.ts";

/** Bags and Granular: datasets, sharded or not, and single bags. */
export const bags: Format = {
  name: "bags",
  description: "Bags and Granular: datasets, sharded datasets, single .bag",
  detect,
  open,
  openToServe,
  check: checkBags,
};

/** Numbered directories that are looked into for a dataset's files. */
const LOOKED_INTO = 4;

function* detect({ path, names, namesIn }: Probe): Steps<boolean> {
  if (names === undefined) return /\.(bag|idx)$/.test(path);
  if (names.some(isOwnFile)) return true;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort().slice(
    0,
    LOOKED_INTO,
  );
  for (const name of numbered) {
    const below = yield* namesIn(name);
    if (below?.some(isOwnFile)) return true;
  }
  return false;
}

/** Others have files with names that end in `.idx`. */
function isOwnFile(name: string): boolean {
  return isDatasetFile(name) && !name.endsWith(".idx");
}

/** Opens everything, so that what is damaged is found now. */
function* open(path: string, options: ContainerOptions): Steps<Container> {
  const container = yield* openToServe(path, options);
  try {
    yield* container.complete();
  } catch (error) {
    container.tree.close();
    throw error;
  }
  return { tree: container.tree, info: container.info };
}

function* openToServe(
  path: string,
  options: ContainerOptions,
): Steps<ServedContainer> {
  const location = yield* locateDataset(path);
  if (location.kind !== "bag") return yield* serveDataset(location, options);
  const bag = yield* openBag(location.path, {
    onWarning: warnerOf(options),
  });
  const tree = new BagTree(bag, nameSuffix(options.ext));
  return { tree, info: describeBag(bag), *complete() {} };
}

/** The first shard is opened, the others when they are needed, or when it is completed. */
function* serveDataset(
  location: Exclude<DatasetLocation, { kind: "bag" }>,
  options: ContainerOptions,
): Steps<ServedContainer> {
  const { path } = location;
  const isSharded = location.kind === "shards";
  const shards = isSharded ? location.shards : undefined;
  const survey = new Survey(isSharded);
  const tree = new DatasetTree({
    path,
    shards,
    generation: undefined,
    views: options.decoded ? new DecodedViews() : undefined,
  });
  const add = function* (shard: number): Steps<void> {
    const directory = isSharded ? shardPath(path, shard) : path;
    const opened = yield* openDataset(directory, {
      onWarning: warnerOf(options),
    });
    tree.add(shard, opened);
    survey.add(opened);
  };
  yield* add(0);
  return {
    tree,
    get info() {
      return survey.describe();
    },
    *complete() {
      for (let shard = 1; shard < (shards ?? 1); shard++) {
        yield* inOneGo(() => add(shard));
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
      while (isOthersTurn()) await otherTasks();
      runSync(procedure());
    },
  });
}

function warnerOf(options: ContainerOptions): (message: string) => void {
  // deno-lint-ignore no-console -- a library's warning has no other place by default
  return options.onWarning ?? ((message) => console.warn(message));
}
