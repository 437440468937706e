import { FormatError } from "../../../errors.ts";
import { FileSource, openError } from "../../../io/storage/file_source.ts";
import { readDirectory } from "../../../io/storage/read_directory.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { type BagFile, closeBag, openBag } from "../bag/bag_file.ts";
import type { Generation } from "./generation.ts";
import { REFS_KEY, SHARD_NAME, SPEC_FILE } from "./dataset_names.ts";
import { LARGEST_SPEC, parseSpec, type SpecKey } from "./spec.ts";

/** What a dataset, or a shard of one, has besides the bags of its keys. */
export interface DatasetHead {
  /** Its directory. */
  readonly path: string;
  readonly generation: Generation;
  /** In the order of `spec.json`. */
  readonly keys: readonly SpecKey[];
  readonly spec: FileSource;
  /**
   * The references, in generations 1 and 2. Datasets of granular's commits 243d3bf and fb0e774, which
   * are numbered 0.22.0 as well, have bags of generation 2 and none: record i of every key belongs to
   * datapoint i, as in generation 3.
   */
  readonly refs: BagFile | undefined;
}

/** The opened files of one dataset, or of one shard. */
export interface DatasetFiles extends DatasetHead {
  /** The bag of each key; none where a writer was killed before it had made them all. */
  readonly bags: readonly BagFile[];
  /** How many datapoints are complete. */
  readonly length: number;
}

/** How to open a dataset. */
export interface OpenDatasetOptions {
  /** Takes its bags for such of this generation. */
  readonly generation?: Generation | undefined;
  /** Told of what is odd but readable. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** All files of a dataset. */
export function filesOf(
  { spec, bags, refs }: DatasetFiles,
): readonly FileSource[] {
  const files = new Set([spec]);
  for (const { source, index } of refs ? [refs, ...bags] : bags) {
    files.add(source).add(index);
  }
  return [...files];
}

/** Closes what {@linkcode openDataset} opened. */
export function closeDataset(dataset: DatasetFiles): void {
  for (const file of filesOf(dataset)) file.close();
}

/**
 * Opens a dataset that has no shards. Of its indexes, no more than the ends are looked at.
 *
 * @param path Its directory.
 * @throws {FormatError} If a file is missing or damaged.
 */
export function* openDataset(
  path: string,
  options: OpenDatasetOptions = {},
): Steps<DatasetFiles> {
  const names = yield* listDirectory(path);
  if (!names.has(SPEC_FILE)) throw missingSpec(path, names);
  if (names.has(`${REFS_KEY}-00000.bag`)) throw inParts(path);
  const hasRefs = options.generation === undefined
    ? hasReferences(names)
    : options.generation < 3;
  if (hasRefs && !names.has(`${REFS_KEY}.bag`)) {
    if (options.generation !== 2) {
      throw missingBag(path, REFS_KEY, "which holds the references");
    }
    return yield* openRefless(path, names, options);
  }
  const head = yield* openHead(path, hasRefs ? options : GENERATION_3);
  const bags: BagFile[] = [];
  let found: Found = "written";
  try {
    if (!hasRefs) found = yield* lookFor(head, names);
    if (found === "unindexed" && options.generation === undefined) {
      const dataset = yield* openRefless(path, names, options);
      closeHead(head);
      return dataset;
    }
    if (found === "unwritten") {
      options.onWarning?.(
        `${path}: there is no datapoint yet: its writer was killed while it made the files`,
      );
      return { ...head, bags, length: 0 };
    }
    for (const { key } of head.keys) {
      if (!names.has(`${key}.bag`)) {
        throw missingBag(path, key, `which ${SPEC_FILE} names`);
      }
      bags.push(yield* openBagOf(head, key, options));
    }
    const length = head.refs?.length ?? completeLength(head, bags, options);
    return { ...head, bags, length };
  } catch (error) {
    closeHead(head);
    bags.forEach(closeBag);
    throw error;
  }
}

/**
 * Opens a dataset as granular's commits 243d3bf and fb0e774 wrote it: bags of generation 2, of which all
 * have as many records, and no references and no lists.
 *
 * @throws {FormatError} If it is none, so that it is one of generation 1 or 2 that has lost them, or one
 * of generation 3 that has lost its indexes.
 */
function* openRefless(
  path: string,
  names: ReadonlySet<string>,
  options: OpenDatasetOptions,
): Steps<DatasetFiles> {
  const head = yield* openHead(path, REFLESS);
  const bags: BagFile[] = [];
  try {
    for (const { key } of head.keys) {
      if (!names.has(`${key}.bag`)) {
        throw missingBag(path, key, `which ${SPEC_FILE} names`);
      }
      bags.push(yield* openBagOf(head, key, { onWarning: options.onWarning }));
    }
    const [length = 0] = bags.map(({ length }) => length);
    const isSound = head.keys.every(({ type }) => !type.word.endsWith("[]")) &&
      bags.every((bag) => bag.generation === 2 && bag.length === length);
    if (!isSound) throw missingReferences(path);
    return { ...head, bags, length };
  } catch (error) {
    closeHead(head);
    bags.forEach(closeBag);
    const isOfBag = error instanceof FormatError &&
      error.code !== "missing-bag";
    throw isOfBag ? missingReferences(path, error) : error;
  }
}

/** The names in a directory. */
export function* listDirectory(path: string): Steps<ReadonlySet<string>> {
  const names = yield* perform(readDirectory(path));
  if (names !== undefined) return new Set(names);
  throw openError(path, { code: "ENOTDIR" });
}

const GENERATION_3 = { generation: 3 } as const;

/** As {@linkcode DatasetHead.refs} has it. */
export const REFLESS = { generation: 2, isRefless: true } as const;

/** How to open what a dataset has besides the bags of its keys. */
interface OpenHeadOptions extends OpenDatasetOptions {
  /** Whether one of generation 2 has no references. */
  readonly isRefless?: boolean | undefined;
}

/**
 * Opens what a dataset has besides the bags of its keys.
 *
 * @param options Which generation it is of; with none, it is 1 or 2.
 */
export function* openHead(
  path: string,
  options: OpenHeadOptions,
): Steps<DatasetHead> {
  const spec = yield* FileSource.open(`${path}/${SPEC_FILE}`);
  let refs: BagFile | undefined;
  try {
    const { generation, isRefless } = options;
    if (generation !== 3 && isRefless !== true) {
      refs = yield* openBag(`${path}/${REFS_KEY}.bag`, options);
    }
    const keys = yield* readSpec(spec, refs !== undefined);
    return {
      path,
      generation: refs?.generation ?? generation!,
      keys,
      spec,
      refs,
    };
  } catch (error) {
    spec.close();
    if (refs !== undefined) closeBag(refs);
    throw error;
  }
}

/** Closes what {@linkcode openHead} opened. */
export function closeHead({ spec, refs }: DatasetHead): void {
  spec.close();
  if (refs !== undefined) closeBag(refs);
}

/** Opens the bag of a key. In generations 1 and 2, its content says which it is. */
export function* openBagOf(
  { path, generation }: DatasetHead,
  key: string,
  options: OpenDatasetOptions = {},
): Steps<BagFile> {
  return yield* openBag(
    `${path}/${key}.bag`,
    generation === 3
      ? { ...options, ...GENERATION_3 }
      : { ...options, isTrailed: true },
  );
}

/** A dataset of generation 3 may have a key `refs`, with an index like any other. */
function hasReferences(names: ReadonlySet<string>): boolean {
  return names.has(`${REFS_KEY}.bag`) && !names.has(`${REFS_KEY}.idx`);
}

/**
 * What a dataset without references is: one of generation 3; one whose writer was killed while it made
 * the files, of which some are missing, and there is nothing in the others; or one without any `.idx`.
 */
type Found = "written" | "unwritten" | "unindexed";

/** Tells what a dataset without references is. */
function* lookFor(
  { path, keys }: DatasetHead,
  names: ReadonlySet<string>,
): Steps<Found> {
  const isMade = keys.every(({ key }) => names.has(`${key}.idx`));
  if (isMade) return "written";
  for (const { key } of keys) {
    for (const name of [`${key}.bag`, `${key}.idx`]) {
      if (!names.has(name)) continue;
      const file = yield* FileSource.open(`${path}/${name}`, { mayGrow: true });
      file.close();
      if (file.size === 0) continue;
      return keys.some(({ key }) => names.has(`${key}.idx`))
        ? "written"
        : "unindexed";
    }
  }
  return "unwritten";
}

function* readSpec(spec: FileSource, hasRefs: boolean): Steps<SpecKey[]> {
  const { path, size } = spec;
  if (size > LARGEST_SPEC) {
    throw new FormatError(
      "bad-spec",
      `${path} has ${size} bytes, more than a specification has (${LARGEST_SPEC})`,
      { path, expected: LARGEST_SPEC, actual: size },
    );
  }
  return parseSpec(yield* readPart(spec, 0, size), path, hasRefs);
}

/** A writer of generation 3 may be between the keys of a datapoint, or have been killed there. */
function completeLength(
  { path, keys }: DatasetHead,
  bags: readonly BagFile[],
  { onWarning }: OpenDatasetOptions,
): number {
  const length = bags.reduce(
    (least, bag) => Math.min(least, bag.length),
    bags[0]?.length ?? 0,
  );
  const ahead = keys.filter((_, k) => bags[k]!.length > length)
    .map(({ key }) => `'${key}'`);
  if (ahead.length > 0) {
    onWarning?.(
      `${path}: only ${length} datapoints are complete: there are more records of ` +
        `${ahead.join(", ")}, since its writer is at work, or was killed`,
    );
  }
  return length;
}

function missingSpec(
  directory: string,
  names: ReadonlySet<string>,
): FormatError {
  const path = `${directory}/${SPEC_FILE}`;
  const isSharded = [...names].some((name) => SHARD_NAME.test(name));
  const why = isSharded
    ? "this is a sharded dataset: open it with ShardedDatasetReader"
    : "this is no dataset, or its writer was closed before it had a datapoint";
  return new FormatError("missing-spec", `${path} is missing: ${why}`, {
    path,
  });
}

function missingReferences(path: string, cause?: unknown): FormatError {
  return new FormatError(
    "missing-bag",
    `${path}: ${REFS_KEY}.bag is missing, which holds the references in generations 1 and 2, and so ` +
      `are the .idx files of generation 3. (Granular's commits numbered 0.22.0 before 0.22.0a1 had ` +
      `neither, but then every bag has its index at its end, and as many records as the others.) ` +
      `Fetch the dataset again`,
    { path: `${path}/${REFS_KEY}.bag`, cause },
  );
}

/** As bags wrote datasets from 0.2.0 to 0.4.0. */
function inParts(path: string): FormatError {
  return new FormatError(
    "unknown-format",
    `${path} was written by bags 0.2 to 0.4, whose bags are in parts (${REFS_KEY}-00000.bag), which ` +
      `recordfs does not read: read it with bags 0.4.0 (commit 5c8c6d6 of danijar/granular), and ` +
      `write it with a later version`,
    { path },
  );
}

function missingBag(path: string, key: string, what: string): FormatError {
  return new FormatError(
    "missing-bag",
    `${path}: ${key}.bag is missing, ${what}; fetch the dataset again`,
    { path: `${path}/${key}.bag` },
  );
}
