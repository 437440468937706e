/** Makes a case: chooses a container and mutates it. */
import { Dice } from "./dice.ts";
import { Draft } from "./draft.ts";
import { COMPRESSED_MUTATIONS } from "./mutations/compressed.ts";
import { BYTE_MUTATIONS } from "./mutations/bytes.ts";
import { HDF5_MUTATIONS } from "./mutations/hdf5s.ts";
import { IMAGE_MUTATIONS } from "./mutations/images.ts";
import { LMDB_MUTATIONS } from "./mutations/lmdbs.ts";
import { LINE_MUTATIONS } from "./mutations/lines.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { PARQUET_MUTATIONS } from "./mutations/parquets.ts";
import { PICKLE_MUTATIONS } from "./mutations/pickles.ts";
import { RECORD_MUTATIONS } from "./mutations/records.ts";
import { MDS_MUTATIONS } from "./mutations/mds.ts";
import { TENSOR_MUTATIONS } from "./mutations/safetensors.ts";
import { SHAPE_MUTATIONS } from "./mutations/shapes.ts";
import { TAR_MUTATIONS } from "./mutations/tars.ts";
import { TFRECORD_MUTATIONS } from "./mutations/tfrecords.ts";
import { TEXT_MUTATIONS } from "./mutations/texts.ts";
import { ZIP_MUTATIONS } from "./mutations/zips.ts";
import type { Original } from "./originals.ts";

const MUTATIONS: readonly Mutation[] = [
  ...BYTE_MUTATIONS,
  ...PICKLE_MUTATIONS,
  ...RECORD_MUTATIONS,
  ...TEXT_MUTATIONS,
  ...IMAGE_MUTATIONS,
  ...SHAPE_MUTATIONS,
  ...TAR_MUTATIONS,
  ...ZIP_MUTATIONS,
  ...TFRECORD_MUTATIONS,
  ...MDS_MUTATIONS,
  ...PARQUET_MUTATIONS,
  ...LMDB_MUTATIONS,
  ...TENSOR_MUTATIONS,
  ...LINE_MUTATIONS,
  ...COMPRESSED_MUTATIONS,
  ...HDF5_MUTATIONS,
];

/** A case to run. */
export interface Case {
  readonly seed: number;
  readonly number: number;
  readonly original: Original;
  readonly draft: Draft;
}

/** Purposes of a case's random numbers, as keys of its dice. */
const MUTATE = 1;
const DRIVE = 2;

/** Returns the dice that choose a case's drives and their options. */
export function driveDice(seed: number, number: number): Dice {
  return new Dice(seed, number, DRIVE);
}

/**
 * Makes a case. The first cases are the unmutated originals, each once; all others are mutated.
 *
 * @returns The same case for the same seed and number.
 */
export function makeCase(
  originals: readonly Original[],
  seed: number,
  number: number,
): Case {
  if (number < originals.length) {
    const original = originals[number]!;
    return { seed, number, original, draft: new Draft(original.files) };
  }
  const dice = new Dice(seed, number, MUTATE);
  const original = dice.weighed(originals);
  const draft = new Draft(original.files);
  const times = dice.once(2) ? 1 : dice.size(1, 6);
  // Mutations that do not apply to the container change nothing, so others are tried.
  for (let tries = 0; tries < 1000 && done(draft) < times; tries++) {
    dice.weighed(MUTATIONS).apply(draft, dice, { originals });
  }
  return { seed, number, original, draft };
}

function done({ log }: Draft): number {
  return log.length;
}
