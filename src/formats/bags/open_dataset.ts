import { FormatError } from "../../errors.ts";
import { FileSource, openError } from "../../io/file_source.ts";
import { readDirectory } from "../../io/read_directory.ts";
import { readPart } from "../../io/read_part.ts";
import { perform, type Steps } from "../../io/steps.ts";
import { type BagFile, closeBag, openBag } from "./bag_file.ts";
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
  /** The references, in generations 1 and 2. */
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
  const hasRefs = options.generation === undefined
    ? hasReferences(names)
    : options.generation < 3;
  if (hasRefs && !names.has(`${REFS_KEY}.bag`)) {
    throw missingBag(path, REFS_KEY, "which holds the references");
  }
  const head = yield* openHead(path, hasRefs ? options : GENERATION_3);
  const bags: BagFile[] = [];
  try {
    const isUnused = !hasRefs && (yield* neverWritten(head, names));
    if (isUnused) {
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

/** The names in a directory. */
export function* listDirectory(path: string): Steps<ReadonlySet<string>> {
  const names = yield* perform(readDirectory(path));
  if (names !== undefined) return new Set(names);
  throw openError(path, { code: "ENOTDIR" });
}

const GENERATION_3 = { generation: 3 } as const;

/**
 * Opens what a dataset has besides the bags of its keys.
 *
 * @param options Which generation it is of; with none, it is 1 or 2.
 */
export function* openHead(
  path: string,
  options: OpenDatasetOptions,
): Steps<DatasetHead> {
  const hasRefs = options.generation !== 3;
  const spec = yield* FileSource.open(`${path}/${SPEC_FILE}`);
  try {
    const keys = yield* readSpec(spec, hasRefs);
    const refs = hasRefs
      ? yield* openBag(`${path}/${REFS_KEY}.bag`, options)
      : undefined;
    return { path, generation: refs?.generation ?? 3, keys, spec, refs };
  } catch (error) {
    spec.close();
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
  { path, refs }: DatasetHead,
  key: string,
  options: OpenDatasetOptions = {},
): Steps<BagFile> {
  return yield* openBag(
    `${path}/${key}.bag`,
    refs === undefined
      ? { ...options, ...GENERATION_3 }
      : { ...options, isTrailed: true },
  );
}

/** A dataset of generation 3 may have a key `refs`, with an index like any other. */
function hasReferences(names: ReadonlySet<string>): boolean {
  return names.has(`${REFS_KEY}.bag`) && !names.has(`${REFS_KEY}.idx`);
}

/**
 * Whether files of a dataset of generation 3 are missing, and there is nothing in the others: its writer
 * was killed while it made them.
 *
 * @throws {FormatError} If it is a dataset of another generation that has lost its references.
 */
function* neverWritten(
  { path, keys }: DatasetHead,
  names: ReadonlySet<string>,
): Steps<boolean> {
  const isMade = keys.every(({ key }) => names.has(`${key}.idx`));
  if (isMade) return false;
  for (const { key } of keys) {
    for (const name of [`${key}.bag`, `${key}.idx`]) {
      if (!names.has(name)) continue;
      const file = yield* FileSource.open(`${path}/${name}`, { mayGrow: true });
      file.close();
      if (file.size === 0) continue;
      if (keys.some(({ key }) => names.has(`${key}.idx`))) return false;
      throw missingBag(
        path,
        REFS_KEY,
        "which holds the references in generations 1 and 2, and so are the .idx files of generation 3",
      );
    }
  }
  return true;
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

function missingBag(path: string, key: string, what: string): FormatError {
  return new FormatError(
    "missing-bag",
    `${path}: ${key}.bag is missing, ${what}; fetch the dataset again`,
    { path: `${path}/${key}.bag` },
  );
}
