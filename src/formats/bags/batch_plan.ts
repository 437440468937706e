import type { ByteSource } from "../../io/byte_source.ts";
import { type BatchRoom, placesIn } from "../../io/read_memory.ts";
import { readSlices } from "../../io/read_slices.ts";
import type { Slice } from "../../io/slice_runs.ts";
import { perform, type Steps } from "../../io/steps.ts";
import type { Column } from "./column.ts";
import { type Datapoint, setValue } from "./datapoint.ts";
import type { Spans } from "./spans.ts";

/** The bytes of records that lie together. */
type Bytes = Uint8Array<ArrayBuffer>;

/** A value that is made while others are. */
interface Pending {
  readonly value: Promise<unknown>;
  put(value: unknown): void;
}

/** What there is to read of a batch of datapoints of one dataset. */
export class BatchPlan {
  /** What is read from: a bag for each key. */
  readonly sources: readonly ByteSource[];
  /** What is read: for each key, the records of each datapoint. */
  readonly slices: readonly Slice[];
  readonly #indices: readonly number[];
  readonly #columns: readonly Column[];
  /** For each key and datapoint: where each record starts, and where the last one ends. */
  readonly #limits: readonly (readonly Float64Array[])[];

  private constructor(
    indices: readonly number[],
    columns: readonly Column[],
    limits: readonly (readonly Float64Array[])[],
  ) {
    this.#indices = indices;
    this.#columns = columns;
    this.#limits = limits;
    this.sources = columns.map(({ records }) => records.source);
    this.slices = limits.flatMap((ofKey, source) =>
      ofKey.map((limits) => ({
        source,
        offset: limits[0]!,
        length: limits.at(-1)! - limits[0]!,
      }))
    );
  }

  /**
   * Finds what is to be read.
   *
   * @param spans Which records, for each column.
   */
  static *of(
    indices: readonly number[],
    columns: readonly Column[],
    spans: readonly Spans[],
  ): Steps<BatchPlan> {
    const limits: Float64Array[][] = [];
    for (const [i, { records }] of columns.entries()) {
      limits.push(yield* records.limitsOf(spans[i]!));
    }
    return new BatchPlan(indices, columns, limits);
  }

  /**
   * Makes the datapoints without waiting.
   *
   * @param bytes Of each slice.
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  decodeSync(bytes: readonly Bytes[]): Datapoint[] {
    return this.#make(
      bytes,
      (column, bytes, index) => column.decodeSync(bytes, index),
    );
  }

  /** {@linkcode BatchPlan.decodeSync}, waiting for decoders that need it, for all at once. */
  async decode(bytes: readonly Bytes[]): Promise<Datapoint[]> {
    const pending: Pending[] = [];
    try {
      return this.#make(bytes, (column, bytes, index, put) => {
        const value = column.begin(bytes, index);
        if (value instanceof Promise) pending.push({ value, put });
        return value;
      });
    } finally {
      await settleAll(pending);
    }
  }

  #make(
    bytes: readonly Bytes[],
    decode: (
      column: Column,
      bytes: Bytes,
      index: number,
      put: (value: unknown) => void,
    ) => unknown,
  ): Datapoint[] {
    const count = this.#indices.length;
    return this.#indices.map((index, i) => {
      const datapoint: Datapoint = {};
      this.#columns.forEach((column, k) => {
        const { key, type } = column;
        const read = bytes[k * count + i]!;
        if (!type.isList) {
          const put = (value: unknown) => setValue(datapoint, key, value);
          put(decode(column, read, index, put));
          return;
        }
        const list: unknown[] = [];
        setValue(datapoint, key, list);
        const limits = this.#limits[k]![i]!;
        for (let r = 0; r + 1 < limits.length; r++) {
          const [start, end] = [limits[r]! - limits[0]!, limits[r + 1]!];
          const record = read.subarray(start, end - limits[0]!);
          list[r] = decode(column, record, index, (value) => list[r] = value);
        }
      });
      return datapoint;
    });
  }
}

/** Puts values where they belong, when all are made. */
async function settleAll(pending: readonly Pending[]): Promise<void> {
  const ends = await Promise.allSettled(pending.map(({ value }) => value));
  for (const [i, end] of ends.entries()) {
    if (end.status === "rejected") throw end.reason;
    pending[i]!.put(end.value);
  }
}

/**
 * Reads the batches of several datasets in one go.
 *
 * @param memory What to read into; memory of their own where not given.
 * @returns The datapoints of each.
 */
export function* readPlans(
  plans: readonly BatchPlan[],
  memory?: BatchRoom,
): Steps<Datapoint[][]> {
  const sources: ByteSource[] = [];
  const slices: Slice[] = [];
  for (const plan of plans) {
    const first = sources.length;
    sources.push(...plan.sources);
    for (const { source, offset, length } of plan.slices) {
      slices.push({ source: first + source, offset, length });
    }
  }
  const places = memory && placesIn(memory, slices);
  const bytes = yield* readSlices(sources, slices, undefined, places);
  const result: Datapoint[][] = [];
  let done = 0;
  for (const plan of plans) {
    const own = bytes.slice(done, done += plan.slices.length);
    result.push(
      yield* perform({
        sync: () => plan.decodeSync(own),
        async: () => plan.decode(own),
      }),
    );
  }
  return result;
}
