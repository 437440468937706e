import { UnfitError } from "../../../convert/conversion.ts";
import type { FormatError } from "../../../base/errors.ts";
import { shardsOf } from "../read/dataset_reader.ts";
import type { ShardReader } from "../read/shard_reader.ts";
import type { Datapoint } from "../read/selection.ts";
import type { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Raw } from "./value_types.ts";

/** Bytes that are read together, as far as averages tell. */
const BATCH_BYTES = 1 << 20;
const MOST_IN_BATCH = 256;

/** Values of a long list that are read together. */
const LIST_PART = 16;

/**
 * Reads datapoints one after the other, as bytes; values of list types as iterables of bytes. Small datapoints are read
 * many at a time; of large ones, lists are read as they are used. One of which the bag of a key is damaged is the error
 * that says so.
 */
export async function* readDatapoints(
  reader: ShardedDatasetReader,
  options: WaitOptions,
): AsyncGenerator<Datapoint | FormatError, void, undefined> {
  for (const shard of shardsOf(reader).sound) {
    yield* readShard(reader, shard, options);
  }
}

/** Reads the datapoints of a shard as {@linkcode readDatapoints} does. */
export async function* readShard(
  reader: ShardedDatasetReader,
  shard: ShardReader,
  { signal }: WaitOptions,
): AsyncGenerator<Datapoint | FormatError, void, undefined> {
  const first = shard.start;
  const end = first + shard.length;
  if (shard.isDamaged) {
    for (let i = 0; i < shard.length; i++) yield shard.damageOf(i)!;
    return;
  }
  const { length, keys } = reader;
  const average = reader.size / Math.max(1, length);
  const batch = Math.min(MOST_IN_BATCH, Math.floor(BATCH_BYTES / average));
  if (batch < 2) {
    for (let i = first; i < end; i++) yield await readLarge(reader, i, signal);
    return;
  }
  for (let start = first; start < end; start += batch) {
    const stop = Math.min(end, start + batch);
    const values = await reader.range(start, stop, undefined, { signal });
    for (let i = 0; i < stop - start; i++) {
      yield Object.fromEntries(keys.map((key) => [key, values[key]![i]]));
    }
  }
}

async function readLarge(
  reader: ShardedDatasetReader,
  index: number,
  signal: AbortSignal | undefined,
): Promise<Datapoint> {
  const available = await reader.available(index, { signal });
  const single = reader.keys.filter((key) => available[key] === true);
  const values = await reader.get(index, single, { signal });
  return Object.fromEntries(reader.keys.map((key) => {
    const count = available[key]!;
    return [
      key,
      count === true
        ? values[key]
        : readList(reader, index, key, count, signal),
    ];
  }));
}

async function* readList(
  reader: ShardedDatasetReader,
  index: number,
  key: string,
  count: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Raw, void, undefined> {
  for (let start = 0; start < count; start += LIST_PART) {
    const mask = { [key]: { start, stop: start + LIST_PART } };
    const values = await reader.get(index, mask, { signal });
    yield* values[key] as Raw[];
  }
}

/** Says of a datapoint that is damaged that it has no form in the target. */
export function unfit(error: FormatError): UnfitError {
  return new UnfitError(error.message, { cause: error });
}
