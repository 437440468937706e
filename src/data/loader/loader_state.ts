import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Dataset } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import type { BatchPlan } from "./batch_plan.ts";
import type { LoaderSettings } from "./loader_options.ts";

/**
 * Where a loader is, as plain data for a checkpoint (`JSON.stringify`), and what its order follows from,
 * so that it is not taken for another loader's. The number of threads is not part of it, nor the rank:
 * ranks that save together are at the same step, also one that has had its last batch before the others.
 */
export interface LoaderState {
  /** Version of this format. */
  readonly version: 1;
  /** The epoch of the next batch. */
  readonly epoch: number;
  /** The next batch's place in its epoch; of a rank that has had its last one before others, their number. */
  readonly step: number;
  /** The loader's seed. */
  readonly seed: number;
  /** Number of samples in the dataset; `null` where it never ends. */
  readonly samples: number | null;
  /** Hash of the numbers of samples in the dataset's files; `null` where they are not known. */
  readonly shards: number | null;
  /** Number of batches in the epoch; `null` where it never ends, or has another number for each rank. */
  readonly batches: number | null;
  /** Samples in a batch; `null` where a batch sampler says it. */
  readonly batchSize: number | null;
  /** True if samples were shuffled. */
  readonly shuffle: boolean;
  /**
   * A number by which the epoch's order is told from that of another sampler; `null` where the sampler refuses to say
   * it.
   */
  readonly order: number | null;
  /** True if a smaller last batch was left out. */
  readonly dropLast: boolean;
  /** Number of trainers. */
  readonly worldSize: number;
  /** True if ranks were padded to equally many samples. */
  readonly padRanks: boolean;
}

/** Where a loader is. */
export interface Position {
  readonly epoch: number;
  readonly step: number;
}

/** What a dataset says of how many samples it has. */
export type DatasetLengths = Pick<Dataset<unknown>, "length" | "shardLengths">;

/** The state of a loader. */
export function stateOf(
  { epoch, step }: Position,
  settings: LoaderSettings,
  { length: samples, shardLengths }: DatasetLengths,
  plan: BatchPlan,
): LoaderState {
  const { length: batches } = plan.batches(epoch);
  const { batchSize, seed, shuffle, dropLast, worldSize, padRanks } = settings;
  const differs = worldSize > 1 && !padRanks;
  // Ranks with more batches are not at the end of the epoch yet, and may be given this state.
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
 * The position that a state saved.
 *
 * @param own The state of the loader that is to continue there, and its plan.
 * @throws {DataError} With code `bad-state` if it is no state, or that of a loader with another order.
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
  // Ranks have at most one batch more than others.
  const isOthers = worldSize > 1 && !padRanks && step <= length + 1;
  return isOthers ? nextOf({ epoch, step }, length) : { epoch, step };
}

/** After an epoch's last batch, the next one is the next epoch's first. */
function nextOf({ epoch, step }: Position, batches: number): Position {
  const isOver = step >= batches && step > 0;
  return isOver ? { epoch: epoch + 1, step: 0 } : { epoch, step };
}

/**
 * A refusal of a state.
 *
 * @param expected What one field of it should be.
 */
export function badState(
  why: string,
  expected: { readonly [name: string]: unknown },
  state: LoaderState | null | undefined,
): DataError {
  const [name] = Object.keys(expected) as [keyof LoaderState];
  return new DataError(
    "bad-state",
    `Cannot continue from this state: ${why}; load it into a loader like the one that saved it`,
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
