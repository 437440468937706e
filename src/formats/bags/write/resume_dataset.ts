import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../../errors.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { removeLeftovers } from "../../../io/write/temporaries.ts";
import { findTarget } from "../../../io/write/write_target.ts";
import { indexPath } from "../bag/index_path.ts";
import { openIfThere } from "../bag/open_bag.ts";
import { IndexedBagOutput } from "./indexed_bag_output.ts";
import { REFS_KEY, SPEC_FILE } from "../dataset/dataset_names.ts";
import { readSpec } from "../dataset/open_shard.ts";
import type { SpecKey } from "../dataset/spec.ts";
import type { WrittenSpec } from "./written_spec.ts";

/** A dataset of generation 3 that is opened to be written. */
export interface ResumedDataset {
  /** In the order of the keys. */
  readonly bags: IndexedBagOutput[];
  /** Whether there was none. */
  readonly isNew: boolean;
}

/**
 * Opens the bags of a dataset of generation 3 behind the last datapoint that all of them have. A bag
 * that is ahead of the others goes back: its records must come again, and are compared.
 */
export function* resumeDataset(
  directory: string,
  spec: WrittenSpec,
): Steps<ResumedDataset> {
  yield* requireGeneration3(directory, spec);
  yield* removeLeftovers(directory, SPEC_FILE);
  const isNew = !(yield* hasSameSpec(directory, spec));
  if (isNew) yield* writeSpec(directory, spec);
  const bags: IndexedBagOutput[] = [];
  try {
    for (const { key } of spec.keys) {
      bags.push(
        yield* IndexedBagOutput.open(path.join(directory, `${key}.bag`)),
      );
    }
    // Another writer may have given up, and removed it, before the bags were locked.
    if (!(yield* hasSameSpec(directory, spec))) {
      yield* writeSpec(directory, spec);
    }
    const length = Math.min(...bags.map(({ length }) => length));
    for (const bag of bags) yield* bag.rewind(length);
    return { bags, isNew };
  } catch (error) {
    // Who has the lock of the first bag is the only writer.
    if (isNew && bags.length > 0) removeUnwritten(directory, spec);
    for (const bag of bags) bag.close();
    throw error;
  }
}

/** Removes a dataset that has not a byte of a datapoint. To be called by its only writer. */
export function removeUnwritten(
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
    // The spec last: what is killed here leaves a dataset, without a datapoint.
    for (const file of [...files, path.join(directory, SPEC_FILE)]) {
      fs.rmSync(file, { force: true });
    }
  } catch {
    // On a disk that takes no change any more: what stays has no datapoint.
  }
}

/** Looked at before anything is written: an empty index would hide all records of an older bag. */
function* requireGeneration3(
  directory: string,
  { spec }: WrittenSpec,
): Steps<void> {
  if (Object.hasOwn(spec, REFS_KEY)) return;
  const refs = path.join(directory, `${REFS_KEY}.bag`);
  if ((yield* findTarget(refs)).found === undefined) return;
  throw new WriteError(
    "exists",
    `Cannot append to ${directory}: it has ${REFS_KEY}.bag, so it is a dataset of generation 1 ` +
      `or 2, which cannot be appended to; choose another directory`,
    { path: directory },
  );
}

/**
 * Whether the dataset has the same specification; `false` where it has none.
 *
 * @throws {WriteError} With code `spec-differs` if it has another.
 */
export function* hasSameSpec(
  directory: string,
  { spec }: WrittenSpec,
): Steps<boolean> {
  const keys = yield* specIn(directory);
  if (keys === undefined) return false;
  const there = new Map(keys.map(({ key, type }) => [key, type.word]));
  const differing = [...new Set([...there.keys(), ...Object.keys(spec)])]
    .filter((key) =>
      there.get(key) !== (Object.hasOwn(spec, key) ? spec[key] : undefined)
    );
  if (differing.length === 0) return true;
  throw new WriteError(
    "spec-differs",
    `Cannot append to ${directory}: its spec.json has another type than the spec for ${
      differing.map((key) => `'${key}'`).join(", ")
    }; use the same spec, or another directory`,
    { path: directory, expected: Object.fromEntries(there), actual: spec },
  );
}

function* specIn(directory: string): Steps<SpecKey[] | undefined> {
  const file = yield* openIfThere(LOCAL_DISK, path.join(directory, SPEC_FILE));
  if (file === undefined) return undefined;
  try {
    return yield* readSpec(file, false);
  } finally {
    file.close();
  }
}

/** Whole or not at all, unlike Python: a spec that is cut could never be continued. */
export function* writeSpec(
  directory: string,
  { json }: WrittenSpec,
): Steps<void> {
  const file = yield* NewFile.create(path.join(directory, SPEC_FILE));
  try {
    yield* file.file.writeAt(json, 0);
    yield* file.file.sync();
    yield* file.publish();
  } finally {
    file.discard();
  }
}
