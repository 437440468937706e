import type { FormatError } from "../../../base/errors.ts";
import { UnfitError } from "../../../convert/conversion.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { isDamage } from "../../../tree/samples/open_shards.ts";
import type { BagsSamples } from "../read/bags_samples.ts";
import type { Datapoint } from "../read/selection.ts";
import type { ShardReader } from "../read/shard_reader.ts";
import type { DatasetSource } from "./dataset_source.ts";
import type { Raw } from "./value_types.ts";

/** Approximate size of a batch, by the average size of datapoints. */
const BATCH_BYTES = 1 << 20;
const MOST_IN_BATCH = 256;

/** Number of list values read at once. */
const LIST_PART = 16;

/**
 * Reads datapoints in order, as bytes; values of list types as iterables of bytes. Small datapoints are read in
 * batches; of large ones, lists are read as they are consumed. Yields an error for a damaged datapoint; a damaged list
 * throws when it is read.
 */
export async function* readDatapoints(
  source: DatasetSource,
  options: WaitOptions,
): AsyncGenerator<Datapoint | UnfitError, void, undefined> {
  for (const shard of source.usedShards) {
    yield* readShard(source, shard, options);
  }
}

/** Reads the datapoints of a shard that are to be converted. */
export async function* readShard(
  source: DatasetSource,
  reader: ShardReader,
  { signal }: WaitOptions,
): AsyncGenerator<Datapoint | UnfitError, void, undefined> {
  const { datapoints: samples } = source;
  const { shard, start: first, length } = reader;
  const numbers = source.numbersIn(reader);
  const count = numbers?.length ?? length;
  const numberAt = (i: number) => numbers?.[i] ?? first + i;
  for (let i = 0; reader.isDamaged && i < count; i++) {
    yield unfit(reader.damageOf(numberAt(i) - first)!);
  }
  if (reader.isDamaged) return;
  const keys = shard.keys.map(({ key }) => key);
  const average = shard.bytes / Math.max(1, length);
  const batch = Math.min(MOST_IN_BATCH, Math.floor(BATCH_BYTES / average));
  for (let at = 0; at < count;) {
    const start = numberAt(at);
    let stop = start + 1; // a batch is of consecutive datapoints
    while (++at < count && numberAt(at) === stop && stop - start < batch) {
      stop++;
    }
    const values = batch < 2 ? undefined : await unlessDamaged(
      samples.range(start, stop, undefined, undefined, false),
      signal,
    );
    for (let i = start; i < stop; i++) {
      // A damaged datapoint fails its batch; then each is read on its own.
      yield values === undefined || values instanceof UnfitError
        ? await readLarge(samples, keys, i, signal)
        : Object.fromEntries(keys.map((key) => [key, values[key]![i - start]]));
    }
  }
}

async function readLarge(
  samples: BagsSamples,
  keys: readonly string[],
  index: number,
  signal: AbortSignal | undefined,
): Promise<Datapoint | UnfitError> {
  const available = await unlessDamaged(samples.available(index), signal);
  if (available instanceof UnfitError) return available;
  const single = keys.filter((key) => available[key] === true);
  const read = samples.read([index], { fields: single });
  const values = await unlessDamaged(read, signal);
  if (values instanceof UnfitError) return values;
  return Object.fromEntries(keys.map((key) => {
    const count = available[key]!;
    return [
      key,
      count === true
        ? values[0]![key]
        : readList(samples, index, key, count, signal),
    ];
  }));
}

async function* readList(
  samples: BagsSamples,
  index: number,
  key: string,
  count: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Raw, void, undefined> {
  for (let start = 0; start < count; start += LIST_PART) {
    const mask = { [key]: { start, stop: start + LIST_PART } };
    const read = samples.readMasked([index], mask, undefined);
    const values = await unlessDamaged(read, signal);
    if (values instanceof UnfitError) throw values;
    yield* values[0]![key] as Raw[];
  }
}

/** Runs a read. Returns damage as an error about a value without a form in the target. */
async function unlessDamaged<T>(
  read: Steps<T>,
  signal: AbortSignal | undefined,
): Promise<T | UnfitError> {
  try {
    return await runAsync(read, signal);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return unfit(error);
  }
}

function unfit(error: FormatError): UnfitError {
  return new UnfitError(error.message, { cause: error });
}
