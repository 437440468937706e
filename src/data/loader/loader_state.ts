import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Dataset } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import type { BatchPlan } from "./batch_plan.ts";
import type { LoaderSettings } from "./loader_options.ts";

/**
 * State of a loader: plain data for a checkpoint (`JSON.stringify`). Contains what determines the order, so that a
 * loader with another order rejects it. Contains neither the number of threads nor the rank: ranks that save
 * together are at the same step, even if one has already had its last batch.
 */
export interface LoaderState {
  /** Version of this format. */
  readonly version: 1;
  /** Epoch of the next batch. */
  readonly epoch: number;
  /** Position of the next batch in its epoch; the number of batches for a rank that has finished before others. */
  readonly step: number;
  /** Seed of the loader. */
  readonly seed: number;
  /** Number of samples in the dataset; `null` if it is endless. */
  readonly samples: number | null;
  /** Hash of the dataset's shard lengths; `null` if they are unknown. */
  readonly shards: number | null;
  /** Number of batches in the epoch; `null` if it is endless or differs between ranks. */
  readonly batches: number | null;
  /** Samples per batch; `null` with a batch sampler. */
  readonly batchSize: number | null;
  /** Whether samples were shuffled. */
  readonly shuffle: boolean;
  /** Number that identifies the epoch's order; `null` if the sampler throws. */
  readonly order: number | null;
  /** Whether a smaller last batch was dropped. */
  readonly dropLast: boolean;
  /** Number of trainers. */
  readonly worldSize: number;
  /** Whether ranks were padded to equally many samples. */
  readonly padRanks: boolean;
}

export interface Position {
  readonly epoch: number;
  readonly step: number;
}

export type DatasetLengths = Pick<Dataset<unknown>, "length" | "shardLengths">;

export function stateOf(
  { epoch, step }: Position,
  settings: LoaderSettings,
  { length: samples, shardLengths }: DatasetLengths,
  plan: BatchPlan,
): LoaderState {
  const { length: batches } = plan.batches(epoch);
  const { batchSize, seed, shuffle, dropLast, worldSize, padRanks } = settings;
  const differs = worldSize > 1 && !padRanks;
  // Ranks with more batches may be given this state, and are not at the end of the epoch yet.
  const next = differs ? { epoch, step } : nextOf({ epoch, step }, batches);
  return {
    version: 1,
    ...next,
    seed,
    samples: finite(samples),
    shards: shardLengths === undefined ? null : checksumOf(shardLengths),
    batches: differs ? null : finite(batches),
    batchSize: batchSize ?? null,
    shuffle,
    order: plan.fingerprint(next.epoch),
    dropLast,
    worldSize,
    padRanks,
  };
}

/**
 * Returns the position in a state, for the loader that has the state `own` and the plan `plan`.
 *
 * @throws {DataError} With code `bad-state` if `state` is not a state, or is that of a loader with another order.
 */
export function positionOf(
  state: LoaderState,
  own: LoaderState,
  plan: BatchPlan,
): Position {
  if (typeof state !== "object" || state === null || state.version !== 1) {
    const why = "it is not what save() of this version returned";
    throw badState(why, { version: 1 }, state);
  }
  for (const name of Object.keys(own) as (keyof LoaderState)[]) {
    if (name === "epoch" || name === "step") {
      if (Number.isSafeInteger(state[name]) && state[name] >= 0) continue;
      const expected = { [name]: "a whole number from 0 on" };
      throw badState(`its ${name} is ${shown(state[name])}`, expected, state);
    }
    if (name === "order" || state[name] === own[name]) continue;
    throw badState(
      `its loader had ${name} ${shown(state[name])}, and this one has ${
        shown(own[name])
      }`,
      { [name]: own[name] },
      state,
    );
  }
  const order = plan.fingerprint(state.epoch);
  if (state.order !== order) {
    const why = `its loader's sampler gave epoch ${state.epoch} another order`;
    throw badState(why, { order }, state);
  }
  const { epoch, step, worldSize, padRanks } = state;
  const { length } = plan.batches(epoch);
  // Ranks differ by at most one batch.
  const isOthers = worldSize > 1 && !padRanks && step <= length + 1;
  return isOthers ? nextOf({ epoch, step }, length) : { epoch, step };
}

/** Moves a position at the end of an epoch to the start of the next one. */
function nextOf({ epoch, step }: Position, batches: number): Position {
  const isOver = step >= batches && step > 0;
  return isOver ? { epoch: epoch + 1, step: 0 } : { epoch, step };
}

/** Makes the error for a rejected state; `expected` has one field with its right value. */
export function badState(
  why: string,
  expected: { readonly [name: string]: unknown },
  state: LoaderState | null | undefined,
): DataError {
  const [name] = Object.keys(expected) as [keyof LoaderState];
  return new DataError(
    "bad-state",
    `Cannot continue from this state: ${why}. Load it into a loader ` +
      "like the one that saved it",
    { expected, actual: { [name]: state?.[name] } },
  );
}

function checksumOf(lengths: readonly number[]): number {
  return crc32Of(new TextEncoder().encode(lengths.join()));
}

function finite(length: number): number | null {
  return length === Infinity ? null : length;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
