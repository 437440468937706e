import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BatchPlan } from "./batch_plan.ts";
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

/** What there is to read of a batch of datapoints of one dataset: for each key, the records of each. */
export class DatasetPlan implements BatchPlan {
  readonly sources: readonly ByteSource[];
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
  ): Steps<DatasetPlan> {
    const limits: Float64Array[][] = [];
    for (const [i, { records }] of columns.entries()) {
      limits.push(yield* records.limitsOf(spans[i]!));
    }
    return new DatasetPlan(indices, columns, limits);
  }

  decodeSync(bytes: readonly Bytes[]): Datapoint[] {
    return this.#make(
      bytes,
      (column, bytes, index) => column.decodeSync(bytes, index),
    );
  }

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
