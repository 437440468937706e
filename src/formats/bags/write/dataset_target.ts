import * as path from "node:path";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { WritableFile } from "../../../io/write/writable_file.ts";
import { writeError } from "../../../io/write/write_error.ts";
import type { BagOutput } from "./bag_output.ts";
import { DatasetOutput } from "./dataset_output.ts";
import { type Generation, requireGeneration } from "../dataset/generation.ts";
import type { Spec } from "../dataset/spec.ts";
import { removeUnwritten, resumeDataset, writeSpec } from "./resume_dataset.ts";
import { REFS_KEY } from "../dataset/dataset_names.ts";
import { TrailedBagOutput } from "./trailed_bag_output.ts";
import type { Encoders } from "../types/codec_types.ts";
import { encodersOf } from "../types/shipped.ts";
import { ValueEncoder } from "./value_encoder.ts";
import type { Ending } from "./writer.ts";
import { type WrittenSpec, writtenSpec } from "./written_spec.ts";

/** A dataset, unsharded or a shard, that is written. */
export interface DatasetTarget extends Ending {
  readonly output: DatasetOutput;
}

/** What a dataset is written with. */
export interface DatasetForm {
  readonly spec: WrittenSpec;
  readonly encoders: Encoders | null;
  readonly generation: Generation;
}

/** Options of the writers of datasets. */
export interface DatasetWriterOptions {
  /**
   * Functions that make the bytes of values, by types; those of {@linkcode encodersOf} by default.
   * Values of types that have none are bytes, or what else a record can be written from; with `null`,
   * all are.
   */
  readonly encoders?: Encoders | null | undefined;
  /** The form of the dataset; 3 by default, that of granular 0.22. */
  readonly generation?: Generation | undefined;
}

/** What the options say, checked. */
export function datasetForm(
  directory: string,
  spec: Spec,
  { generation = 3, encoders = encodersOf(generation) }: DatasetWriterOptions,
): DatasetForm {
  requireGeneration(generation);
  const written = writtenSpec(spec, generation, directory);
  return { spec: written, encoders, generation };
}

/**
 * Starts a dataset, or in generation 3 continues one.
 *
 * @throws {WriteError} If it can't be written there.
 * @throws {FormatError} If what is to be continued is damaged.
 */
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

/** Generation 3: what is there is continued, and what was written stays. */
function* continuedDataset(
  directory: string,
  spec: WrittenSpec,
  encoders: readonly ValueEncoder[],
): Steps<DatasetTarget> {
  const { bags, isNew } = yield* resumeDataset(directory, spec);
  const output = new DatasetOutput({
    directory,
    encoders,
    bags,
    refs: undefined,
  });
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
      output.close(); // the locks last
    },
  };
}

/** Generations 1 and 2: a directory that appears when all its bags are complete. */
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
        // Last, though the directory is not seen before: whoever finds one by hand can tell.
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
