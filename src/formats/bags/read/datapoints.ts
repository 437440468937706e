import type { ReadMemory } from "../../../io/read/read_memory.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BatchPlan } from "./batch_plan.ts";
import type { Datapoint } from "./datapoint.ts";
import type { Generation } from "../dataset/generation.ts";
import type { Mask } from "./selection.ts";
import type { Spec } from "../dataset/spec.ts";

/** Says that records are not to be read, but looked at in memory maps of their bags. */
export const MAPPED = Symbol("mapped");

/** Opened datapoints: of one dataset, or of several shards. The indices they are asked for have been checked before. */
export interface Datapoints {
  /** The dataset's directory. */
  readonly path: string;
  readonly generation: Generation;
  /** The types of the keys. */
  readonly spec: Spec;
  /** The keys, in the order of `spec.json`. */
  readonly keys: readonly string[];
  /** How many there are. */
  readonly length: number;
  /** Bytes of all bags, the references and the indexes. */
  readonly size: number;

  /**
   * Reads a datapoint without waiting.
   *
   * @param memory What to read into; with `MAPPED`, values are views of memory maps.
   */
  getSync(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | typeof MAPPED | undefined,
  ): Datapoint;

  /** Reads a datapoint. */
  get(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Datapoint>;

  /** Reads consecutive datapoints: of each key, as much in one go as lies together. */
  range(
    start: number,
    count: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Record<string, unknown[]>>;

  /** Finds what there is to read of datapoints in any order, repeats allowed. */
  planBatch(
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPlan>;

  /** How many values each key has: `true` for one. */
  available(index: number): Steps<Record<string, true | number>>;

  close(): void;
}
