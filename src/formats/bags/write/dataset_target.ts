import * as path from "node:path";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { WritableFile } from "../../../io/write/writable_file.ts";
import { writeError } from "../../../io/write/write_error.ts";
import type { BagOutput } from "./bag_output.ts";
import { DatasetOutput } from "./dataset_output.ts";
import {
  type Generation,
  REFS_KEY,
  requireGeneration,
  SPEC_FILE,
} from "../dataset/dataset_names.ts";
import {
  type Spec,
  type SpecKey,
  type WrittenSpec,
  writtenSpec,
} from "../dataset/spec.ts";
import { TrailedBagOutput } from "./trailed_bag_output.ts";
import { type Encoders, encodersOf } from "../types/shipped.ts";
import { ValueEncoder } from "./value_encoder.ts";
import type { Ending } from "../../../io/write/writer_base.ts";
import * as fs from "node:fs";
import { WriteError } from "../../../base/errors.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { removeLeftovers } from "../../../io/write/temporaries.ts";
import { findTarget } from "../../../io/write/write_target.ts";
import { indexPath } from "../bag/bag.ts";
import { openIfThere } from "../../../io/storage/open_file.ts";
import { IndexedBagOutput } from "./indexed_bag_output.ts";
import { readSpec } from "../dataset/open_shard.ts";

export interface DatasetTarget extends Ending {
  readonly output: DatasetOutput;
}

export interface DatasetForm {
  readonly spec: WrittenSpec;
  readonly encoders: Encoders | null;
  readonly generation: Generation;
}

/** Options of dataset writers. */
export interface DatasetWriterOptions {
  /**
   * Encoders by type. Defaults to {@linkcode encodersOf}. Values without an encoder are bytes, or anything else that a
   * record can be written from; with `null`, all are.
   */
  readonly encoders?: Encoders | null | undefined;
  /** Form of the bags. Defaults to 3, the `.bag` and `.idx` of granular 0.22. */
  readonly generation?: Generation | undefined;
}

export function datasetForm(
  directory: string,
  spec: Spec,
  { generation = 3, encoders = encodersOf(generation) }: DatasetWriterOptions,
): DatasetForm {
  requireGeneration(generation);
  const written = writtenSpec(spec, generation, directory);
  return { spec: written, encoders, generation };
}

/** Starts a dataset; in generation 3, continues an existing one. Throws if it can't be written, or is damaged. */
export function* openDatasetTarget(
  directory: string,
  { spec, encoders, generation }: DatasetForm,
): Steps<DatasetTarget> {
  const valueEncoders = spec.keys.map((key) =>
    new ValueEncoder(directory, key, encoders)
  );
  const isInPlace = generation === 3;
  const parent = isInPlace ? directory : path.dirname(directory);
  const made = yield* makeDirectories(parent, directory);
  try {
    const target = isInPlace
      ? yield* continuedDataset(directory, spec, valueEncoders)
      : yield* newDataset(directory, spec, valueEncoders, generation);
    const letGo = () => {
      target.letGo();
      made.removeEmpty();
    };
    return { ...target, letGo };
  } catch (error) {
    made.removeEmpty();
    throw error;
  }
}

/**
 * Opens or creates a dataset of generation 3, after the last datapoint that all bags have. A bag that is ahead is
 * rewound: its records must be appended again, and are compared.
 */
function* continuedDataset(
  directory: string,
  spec: WrittenSpec,
  encoders: readonly ValueEncoder[],
): Steps<DatasetTarget> {
  yield* requireGeneration3(directory, spec);
  yield* removeLeftovers(directory, SPEC_FILE);
  const isNew = !(yield* hasSameSpec(directory, spec));
  if (isNew) yield* writeSpec(directory, spec);
  const bags: IndexedBagOutput[] = [];
  try {
    for (const { key } of spec.keys) {
      const bag = path.join(directory, `${key}.bag`);
      bags.push(yield* IndexedBagOutput.open(bag));
    }
    // Another writer may have been aborted, and have removed the spec, before the bags were locked.
    if (!(yield* hasSameSpec(directory, spec))) {
      yield* writeSpec(directory, spec);
    }
    const length = Math.min(...bags.map(({ length }) => length));
    for (const bag of bags) yield* bag.rewind(length);
  } catch (error) {
    // The holder of the first bag's lock is the only writer.
    if (isNew && bags.length > 0) removeUnwritten(directory, spec);
    for (const bag of bags) bag.close();
    throw error;
  }
  const output = new DatasetOutput({ directory, encoders, bags });
  let isFinished = false;
  return {
    output,
    *finish() {
      yield* output.finish();
      isFinished = true;
    },
    *publish() {},
    letGo() {
      if (isNew && !isFinished) removeUnwritten(directory, spec);
      output.close(); // releases the locks last
    },
  };
}

/** Creates a dataset of generation 1 or 2: a directory that appears when all its bags are complete. */
function* newDataset(
  directory: string,
  spec: WrittenSpec,
  encoders: readonly ValueEncoder[],
  generation: 1 | 2,
): Steps<DatasetTarget> {
  const place = yield* NewDirectory.create(directory);
  const opened: BagOutput[] = [];
  try {
    for (const name of [REFS_KEY, ...spec.keys.map(({ key }) => key)]) {
      opened.push(yield* newBag(place, `${name}.bag`, generation));
    }
  } catch (error) {
    for (const bag of opened) bag.close();
    place.discard();
    throw error;
  }
  const [refs, ...bags] = opened;
  const output = new DatasetOutput({ directory, encoders, bags, refs });
  return {
    output,
    *finish() {
      yield* output.finish();
      try {
        // Written last: in a temporary directory left behind, its absence shows that the dataset is incomplete.
        yield* writeSpec(place.temporary, spec);
      } catch (error) {
        throw place.asPublished(error);
      }
    },
    publish: () => place.publish(),
    letGo() {
      output.close();
      place.discard();
    },
  };
}

function* newBag(
  place: NewDirectory,
  name: string,
  generation: 1 | 2,
): Steps<BagOutput> {
  const temporary = path.join(place.temporary, name);
  const final = path.join(place.path, name);
  let file: WritableFile | undefined;
  try {
    file = yield* WritableFile.create(temporary, final);
    return yield* TrailedBagOutput.create(generation, file, final, temporary);
  } catch (error) {
    file?.close();
    throw writeError(final, error);
  }
}

/** Removes a dataset without a byte of data. Only its sole writer may call this. */
function removeUnwritten(
  directory: string,
  { keys }: WrittenSpec,
): void {
  const bags = keys.map(({ key }) => path.join(directory, `${key}.bag`));
  const files = bags.flatMap((bag) => [bag, indexPath(bag)]);
  try {
    const isWritten = files.some((file) =>
      (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
    );
    if (isWritten) return;
    // The spec last: if killed here, the writer leaves a dataset without datapoints.
    for (const file of [...files, path.join(directory, SPEC_FILE)]) {
      fs.rmSync(file, { force: true });
    }
  } catch {
    // The disk can no longer be changed; the files that stay have no datapoint.
  }
}

/** Rejects a dataset of generation 1 or 2 before anything is written: an empty index would hide an older bag. */
function* requireGeneration3(
  directory: string,
  { spec }: WrittenSpec,
): Steps<void> {
  if (Object.hasOwn(spec, REFS_KEY)) return;
  const refs = path.join(directory, `${REFS_KEY}.bag`);
  if ((yield* findTarget(refs)).found === undefined) return;
  throw new WriteError(
    "exists",
    `Cannot append to ${directory}: it has ${REFS_KEY}.bag, so it is a ` +
      "dataset of generation 1 or 2, which cannot be appended to. Choose another " +
      "directory",
    { path: directory },
  );
}

/** Whether the dataset has this specification; `false` if it has none. Throws `spec-differs` if it has another. */
export function* hasSameSpec(
  directory: string,
  { spec }: WrittenSpec,
): Steps<boolean> {
  const file = yield* openIfThere(LOCAL_DISK, path.join(directory, SPEC_FILE));
  if (file === undefined) return false;
  let keys: SpecKey[];
  try {
    keys = yield* readSpec(file, false);
  } finally {
    file.close();
  }
  const there = new Map(keys.map(({ key, type }) => [key, type.word]));
  const differing = [...new Set([...there.keys(), ...Object.keys(spec)])]
    .filter((key) =>
      there.get(key) !== (Object.hasOwn(spec, key) ? spec[key] : undefined)
    );
  if (differing.length === 0) return true;
  throw new WriteError(
    "spec-differs",
    `Cannot append to ${directory}: its spec.json has another type than ` +
      `the spec for ${differing.map((key) => `'${key}'`).join(", ")}. Use ` +
      "the same spec, or another directory",
    { path: directory, expected: Object.fromEntries(there), actual: spec },
  );
}

/** Writes the spec atomically, unlike Python: a truncated spec would prevent the dataset from being continued. */
function writeSpec(directory: string, { json }: WrittenSpec): Steps<void> {
  return NewFile.write(path.join(directory, SPEC_FILE), json);
}
