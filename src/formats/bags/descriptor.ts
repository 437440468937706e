import type { Steps } from "../../io/concurrency/steps.ts";
import { SHARD } from "../../io/storage/shards/shard_names.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor, Nearly } from "../format.ts";
import {
  BAG,
  isDatasetFile,
  SHARD_NAME,
  SPEC_FILE,
} from "./dataset/dataset_names.ts";

export const bags: FormatDescriptor = {
  name: "bags",
  description: "Bags and Granular: datasets, sharded datasets, single .bag",
  suffixes: [".bag"],
  nestedSuffixes: [".bag"],
  hasNoMagic: true,
  detect,
  evidence,
  isDataset,
  nearly,
  countSamples: ({ kind, files, facts }) =>
    kind === BAG
      ? { unit: "samples", length: files }
      : { unit: "datapoints", length: facts!["datapoints"]! },
  targets: [{ name: "bags" }, { name: BAG, suffix: ".bag" }],
  isExtracted,
  load: async () => (await import("./format.ts")).bags,
  async openDeferred(path, options) {
    const { openDeferred } = await import(
      "./tree/begin_container.ts"
    );
    return await openDeferred(path, options);
  },
};

/** Number of numbered directories that are searched for a dataset's files. */
const LOOKED_INTO = 4;

function* detect({ path, names, namesIn }: Probe): Steps<boolean> {
  if (names === undefined) return /\.(bag|idx)$/.test(path);
  if (areExtracted(names)) return false;
  if (names.some((name) => isOwnFile(name, names))) return true;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort();
  for (const name of numbered.slice(0, LOOKED_INTO)) {
    const below = yield* namesIn(name);
    if (below?.some((name) => isOwnFile(name, below)) && !areExtracted(below)) {
      return true;
    }
  }
  return false;
}

/** Whether a directory has a specification next to bags, or numbered shards that have. */
function* isDataset(
  names: readonly string[],
  namesIn: Probe["namesIn"],
): Steps<boolean> {
  const isOne = (names: readonly string[]) =>
    names.includes(SPEC_FILE) && names.some((name) => name.endsWith(".bag"));
  if (isOne(names)) return true;
  const numbered = names.filter((name) => SHARD_NAME.test(name)).sort();
  const [first] = numbered;
  if (first === undefined) return false;
  const below = yield* namesIn(first);
  return below !== undefined && isOne(below);
}

/** Whether a directory is an extracted dataset: it has a `spec.json`, but no bags. */
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

/** Whether these are names of an extracted dataset without shards: its datapoints are directories. */
function areExtracted(names: readonly string[]): boolean {
  return names.includes(SPEC_FILE) && !hasBags(names) &&
    names.some((name) => SHARD_NAME.test(name));
}

function nearly(names: readonly string[]): Nearly | undefined {
  if (!areExtracted(names)) return undefined;
  const why =
    `holds a ${SPEC_FILE} and directories of datapoints, and no bags: it is an extracted dataset. ` +
    "Make a dataset of it with `recordfs convert`";
  return { code: "unknown-format", why };
}

/** Returns a bag or shard as evidence. A `spec.json` alone is none, since it may be for files to convert. */
function evidence(names: readonly string[]): string | undefined {
  const bag = names.find((name) =>
    name.endsWith(".bag") && isOwnFile(name, names)
  );
  if (bag !== undefined) return `bags (${bag})`;
  if (names.some((name) => isOwnFile(name, names))) return undefined;
  return `shards of bags (${names.find((name) => SHARD_NAME.test(name))})`;
}

/**
 * Whether a file belongs to a dataset. Excludes `.idx`, which other formats use, too; and a `.bag` of another format,
 * whose shards are numbered or whose index is the file `limits.NAME`.
 */
function isOwnFile(name: string, names: readonly string[]): boolean {
  const isOther = name.endsWith(".bag") &&
    (SHARD.test(name) || name.startsWith("limits.") ||
      names.includes(`limits.${name}`));
  return isDatasetFile(name) && !name.endsWith(".idx") && !isOther;
}
