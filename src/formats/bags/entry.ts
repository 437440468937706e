import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatEntry, Nearly } from "../format.ts";
import {
  BAG,
  isDatasetFile,
  SHARD_NAME,
  SPEC_FILE,
} from "./dataset/dataset_names.ts";

/** Bags and Granular: datasets, sharded or not, and single bags. */
export const bags: FormatEntry = {
  name: "bags",
  description: "Bags and Granular: datasets, sharded datasets, single .bag",
  suffixes: [".bag"],
  detect,
  evidence,
  nearly,
  countSamples: ({ kind, files, facts }) =>
    kind === BAG
      ? { unit: "samples", length: files }
      : { unit: "datapoints", length: facts!["datapoints"]! },
  targets: [{ name: "bags" }, { name: BAG, suffix: ".bag" }],
  isExtracted,
  load: async () => (await import("./format.ts")).bags,
  async openToServe(path, options) {
    const { openToServe } = await import("./tree/begin_container.ts");
    return await openToServe(path, options);
  },
};

/** Numbered directories that are looked into for a dataset's files. */
const LOOKED_INTO = 4;

function* detect({ path, names, namesIn }: Probe): Steps<boolean> {
  if (names === undefined) return /\.(bag|idx)$/.test(path);
  if (areExtracted(names)) return false;
  if (names.some(isOwnFile)) return true;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort();
  for (const name of numbered.slice(0, LOOKED_INTO)) {
    const below = yield* namesIn(name);
    if (below?.some(isOwnFile) && !areExtracted(below)) return true;
  }
  return false;
}

/**
 * One that a dataset was extracted to has a `spec.json`, as a dataset has, but no bags.
 */
function* isExtracted(
  names: readonly string[],
  namesIn: Probe["namesIn"],
): Steps<boolean> {
  if (areExtracted(names)) return true;
  if (hasBags(names)) return false;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort();
  if (numbered.length === 0) return false;
  const below = yield* namesIn(numbered[0]!);
  return below !== undefined && below.includes(SPEC_FILE) && !hasBags(below);
}

function hasBags(names: readonly string[]): boolean {
  return names.some((name) => /\.(bag|idx)$/.test(name));
}

/** Whether these are the names of what one dataset was extracted to: its datapoints are directories. */
function areExtracted(names: readonly string[]): boolean {
  return names.includes(SPEC_FILE) && !hasBags(names) &&
    names.some((name) => SHARD_NAME.test(name));
}

function nearly(names: readonly string[]): Nearly | undefined {
  if (!areExtracted(names)) return undefined;
  const why =
    `holds a ${SPEC_FILE} and directories of datapoints, and no bags: a dataset was extracted to it, which is a folder ` +
    "like others; `recordfs convert` makes a dataset of it again";
  return { code: "unknown-format", why };
}

/** A `spec.json` on its own is not, since it may lie beside what is to be converted by it. */
function evidence(names: readonly string[]): string | undefined {
  const bag = names.find((name) => name.endsWith(".bag"));
  if (bag !== undefined) return `bags (${bag})`;
  if (names.some(isOwnFile)) return undefined;
  return `shards of bags (${names.find((name) => SHARD_NAME.test(name))})`;
}

/** Others have files with names that end in `.idx`. */
function isOwnFile(name: string): boolean {
  return isDatasetFile(name) && !name.endsWith(".idx");
}
