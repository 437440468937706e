import { FormatError } from "../../errors.ts";
import { FileSource } from "../../io/file_source.ts";
import { readDirectory } from "../../io/read_directory.ts";
import { readPart } from "../../io/read_part.ts";
import { perform, type Steps } from "../../io/steps.ts";
import { type BagFile, closeBag, openBag } from "./bag_file.ts";
import type { Generation } from "./generation.ts";
import {
  LARGEST_SPEC,
  parseSpec,
  REFS_KEY,
  SPEC_FILE,
  type SpecKey,
} from "./spec.ts";

/** The opened files of one dataset, or of one shard. */
export interface OpenedDataset {
  /** Its directory. */
  readonly path: string;
  readonly generation: Generation;
  /** In the order of `spec.json`. */
  readonly keys: readonly SpecKey[];
  readonly spec: FileSource;
  /** The bag of each key. */
  readonly bags: readonly BagFile[];
  /** The references, in generations 1 and 2. */
  readonly refs: BagFile | undefined;
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
  { spec, bags, refs }: OpenedDataset,
): readonly FileSource[] {
  const files = new Set([spec]);
  for (const { source, index } of refs ? [refs, ...bags] : bags) {
    files.add(source).add(index);
  }
  return [...files];
}

/** Closes what {@linkcode openDataset} opened. */
export function closeDataset(dataset: OpenedDataset): void {
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
): Steps<OpenedDataset> {
  const names = new Set(yield* perform(readDirectory(path)) ?? []);
  if (!names.has(SPEC_FILE)) throw missingSpec(path);
  const hasRefs = options.generation === undefined
    ? hasReferences(names)
    : options.generation < 3;
  if (hasRefs && !names.has(`${REFS_KEY}.bag`)) {
    throw missingBag(path, REFS_KEY, "which holds the references");
  }
  const spec = yield* FileSource.open(`${path}/${SPEC_FILE}`);
  const opened: BagFile[] = [];
  try {
    const keys = yield* readSpec(spec, hasRefs);
    const bagOptions = hasRefs
      ? options
      : { ...options, generation: 3 as const };
    const refs = hasRefs
      ? yield* openBag(`${path}/${REFS_KEY}.bag`, bagOptions)
      : undefined;
    if (refs !== undefined) opened.push(refs);
    const bags: BagFile[] = [];
    for (const { key } of keys) {
      const name = `${key}.bag`;
      if (!names.has(name)) {
        throw missingBag(path, key, `which ${SPEC_FILE} names`);
      }
      const bag = yield* openBag(`${path}/${name}`, bagOptions);
      opened.push(bag);
      bags.push(bag);
    }
    const generation = refs?.generation ?? 3;
    const length = refs?.length ?? completeLength(path, bags, options);
    return { path, generation, keys, spec, bags, refs, length };
  } catch (error) {
    spec.close();
    opened.forEach(closeBag);
    throw error;
  }
}

/** A dataset of generation 3 may have a key `refs`, with an index like any other. */
function hasReferences(names: ReadonlySet<string>): boolean {
  if (names.has(`${REFS_KEY}.bag`)) return !names.has(`${REFS_KEY}.idx`);
  for (const name of names) if (name.endsWith(".idx")) return false;
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
  path: string,
  bags: readonly BagFile[],
  { onWarning }: OpenDatasetOptions,
): number {
  if (bags.length === 0) return 0;
  const lengths = bags.map(({ length }) => length);
  const least = lengths.reduce((a, b) => Math.min(a, b));
  const most = lengths.reduce((a, b) => Math.max(a, b));
  if (most > least) {
    onWarning?.(
      `${path}: its writer is at work or was killed: ${least} datapoints are complete, some keys ` +
        `have ${most}`,
    );
  }
  return least;
}

function missingSpec(path: string): FormatError {
  return new FormatError(
    "missing-spec",
    `${path}: ${SPEC_FILE} is missing. A writer that was closed without a datapoint leaves none`,
    { path: `${path}/${SPEC_FILE}` },
  );
}

function missingBag(path: string, key: string, what: string): FormatError {
  return new FormatError(
    "missing-bag",
    `${path}: ${key}.bag is missing, ${what}; fetch the dataset again`,
    { path: `${path}/${key}.bag` },
  );
}
