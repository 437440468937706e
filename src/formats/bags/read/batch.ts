import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { type BatchRoom, placesIn } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { Column } from "./column.ts";
import type { Datapoint } from "./selection.ts";
import { setOwn } from "../../../codecs/set_own.ts";

/** The values of one key that a batch has of one shard. */
export interface BatchPart {
  readonly column: Column;
  /** The datapoints, as the shard numbers them. */
  readonly indices: readonly number[];
  /** Where in the batch each stands. */
  readonly places: readonly number[];
  /** The bytes of each value. */
  readonly slices: readonly Slice[];
  /** Of each list: where its records start, and where the last one ends. */
  readonly limits: readonly Float64Array[] | undefined;
}

/** The bytes of records that lie together. */
type Bytes = Uint8Array<ArrayBuffer>;

/** A value that is made while others are. */
interface Pending {
  readonly value: Promise<unknown>;
  put(value: unknown): void;
}

/**
 * Reads a batch in one go: all keys, of all shards.
 *
 * @param length How many datapoints it has.
 * @param memory What to read into; memory of their own where not given.
 * @throws {TypeError} If a decoder has to be waited for where that can't be.
 */
export function* readBatch(
  length: number,
  parts: readonly BatchPart[],
  memory?: BatchRoom,
): Steps<Datapoint[]> {
  const slices: Slice[] = [];
  for (let source = 0; source < parts.length; source++) {
    for (const { offset, length } of parts[source]!.slices) {
      slices.push({ source, offset, length });
    }
  }
  const bytes = yield* readSlices(
    parts.map(({ column }) => column.bag.data),
    slices,
    undefined,
    memory && placesIn(memory, slices),
  );
  return yield* perform({
    sync: () =>
      assemble(
        length,
        parts,
        bytes,
        (column, bytes, index) => column.decodeSync(bytes, index),
      ),
    async async() {
      const pending: Pending[] = [];
      try {
        return assemble(length, parts, bytes, (column, bytes, index, put) => {
          const value = column.begin(bytes, index);
          if (value instanceof Promise) pending.push({ value, put });
          return value;
        });
      } finally {
        await settleAll(pending);
      }
    },
  });
}

/** Says that what a batch has to read will be read soon: what lies on servers is fetched. */
export function expectBatch(parts: readonly BatchPart[]): void {
  for (const { column, slices } of parts) {
    const { data } = column.bag;
    for (const { offset, length } of slices) {
      if (length > 0 && data.expect?.(offset, length) !== true) break;
    }
  }
}

/** Makes the datapoints. */
function assemble(
  length: number,
  parts: readonly BatchPart[],
  bytes: readonly Bytes[],
  decode: (
    column: Column,
    bytes: Bytes,
    index: number,
    put: (value: unknown) => void,
  ) => unknown,
): Datapoint[] {
  const batch = Array.from({ length }, (): Datapoint => ({}));
  let next = 0;
  for (const { column, indices, places, limits } of parts) {
    const { key } = column;
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i]!;
      const datapoint = batch[places[i]!]!;
      const read = bytes[next++]!;
      if (limits === undefined) {
        const put = (value: unknown) => setOwn(datapoint, key, value);
        put(decode(column, read, index, put));
        continue;
      }
      const list: unknown[] = [];
      setOwn(datapoint, key, list);
      const [start = 0, ...ends] = limits[i]!;
      let at = 0;
      for (const [k, end] of ends.entries()) {
        const record = read.subarray(at, at = end - start);
        list[k] = decode(column, record, index, (value) => list[k] = value);
      }
    }
  }
  return batch;
}

/** Puts values where they belong, when all are made. */
async function settleAll(pending: readonly Pending[]): Promise<void> {
  const ends = await Promise.allSettled(pending.map(({ value }) => value));
  for (const [i, end] of ends.entries()) {
    if (end.status === "rejected") throw end.reason;
    pending[i]!.put(end.value);
  }
}
