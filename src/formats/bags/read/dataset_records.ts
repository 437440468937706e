import type { Steps } from "../../../io/concurrency/steps.ts";
import { BagRecords } from "./bag_records.ts";
import { REFS_KEY } from "../dataset/dataset_names.ts";
import type { Generation } from "../dataset/generation.ts";
import {
  closeDataset,
  type DatasetFiles,
  openDataset,
  type OpenDatasetOptions,
} from "../dataset/open_dataset.ts";
import { unknownKey } from "./selection.ts";
import type { SpecKey } from "../dataset/spec.ts";

/** How to open a dataset, and what of it is held in memory. */
export interface DatasetRecordsOptions extends OpenDatasetOptions {
  /** Whether the indexes are. */
  readonly cacheIndex: boolean;
  /** Keys whose bags are. */
  readonly cacheKeys: readonly string[];
}

/** The records of a dataset. */
export interface DatasetRecords {
  /** The dataset's directory. */
  readonly path: string;
  readonly generation: Generation;
  /** In the order of `spec.json`. */
  readonly keys: readonly SpecKey[];
  /** Those of each key; none where a writer was killed before it had made all bags. */
  readonly bags: readonly BagRecords[];
  /** The references, in generations 1 and 2. */
  readonly refs: BagRecords | undefined;
  /** How many datapoints there are. */
  readonly length: number;
}

/** Closes what {@linkcode openDatasetRecords} opened. */
export function closeDatasetRecords({ bags, refs }: DatasetRecords): void {
  for (const bag of bags) bag.close();
  refs?.close();
}

/**
 * Opens the records of a dataset.
 *
 * @param path Its directory, without a slash at the end.
 * @throws {FormatError} If a file is missing or damaged.
 * @throws {RecordfsError} With code `unknown-key` where `cacheKeys` has one.
 */
export function* openDatasetRecords(
  path: string,
  options: DatasetRecordsOptions,
): Steps<DatasetRecords> {
  const files = yield* openDataset(path, options);
  try {
    files.spec.close(); // it has been read
    return yield* withRecords(files, options);
  } catch (error) {
    closeDataset(files);
    throw error;
  }
}

function* withRecords(
  files: DatasetFiles,
  { cacheIndex, cacheKeys }: DatasetRecordsOptions,
): Steps<DatasetRecords> {
  const { path, generation, keys, length } = files;
  const names = new Set(keys.map(({ key }) => key));
  if (files.refs !== undefined) names.add(REFS_KEY);
  for (const key of cacheKeys) {
    if (!names.has(key)) throw unknownKey({ path, keys }, key);
  }
  const optionsOf = (key: string) => ({
    cacheIndex,
    cacheData: cacheKeys.includes(key),
  });
  const refs = files.refs &&
    (yield* BagRecords.of(files.refs, optionsOf(REFS_KEY)));
  const bags: BagRecords[] = [];
  for (const [k, bag] of files.bags.entries()) {
    bags.push(yield* BagRecords.of(bag, optionsOf(keys[k]!.key)));
  }
  return { path, generation, keys, bags, refs, length };
}
