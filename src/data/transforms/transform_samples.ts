import { ConcurrencyLimit } from "../../io/concurrency/concurrency_limit.ts";
import type { GetOptions } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import { Random } from "../random/random.ts";
import { inFlightLimit } from "./in_flight_limit.ts";
import { type FinishedImage, finishImage } from "./to_array.ts";
import { runStep, type Step } from "./transform.ts";

/**
 * Applies a transform to the samples of a batch, several at a time where it waits; for the `process` of
 * a dataset. What is random in it follows from the seed, the epoch and each sample's index.
 *
 * @param transform What to apply.
 * @param samples The batch.
 * @param indices The samples' indices in the dataset.
 * @param options What `process` was given.
 * @returns What became of the samples, in their order; pictures as arrays `[height, width, channels]`.
 * @throws {DataError} With code `sample-failed` if the transform throws; `sample` is the index.
 */
export async function transformSamples<In, Out>(
  transform: Step<In, Out>,
  samples: readonly In[],
  indices: readonly number[],
  options: GetOptions = {},
): Promise<FinishedImage<Out>[]> {
  const run = runStep(transform);
  const { seed = 0, epoch = 0, signal } = options;
  return await inFlight(indices.length, async (i) => {
    const index = indices[i]!;
    try {
      return finishImage(
        await run(samples[i]!, new Random(seed, epoch, index)),
      );
    } catch (cause) {
      throw sampleFailed(index, `sample ${index}`, undefined, cause);
    }
  }, signal);
}

/**
 * Makes several things, some of them at a time.
 *
 * @param count How many.
 * @param make Makes one, by its number.
 * @returns What was made, in the order of numbers.
 * @throws Once none is under way: the signal's reason, or what the one of the lowest number that failed
 * has thrown.
 */
export async function inFlight<T>(
  count: number,
  make: (i: number) => Promise<T>,
  signal: AbortSignal | undefined,
  most: number = inFlightLimit(),
): Promise<T[]> {
  const results = new Array<T>(count);
  const flight = new ConcurrencyLimit(most);
  const failures: { readonly i: number; readonly error: unknown }[] = [];
  for (let i = 0; i < count; i++) {
    await flight.room();
    if (failures.length > 0 || signal?.aborted) break;
    flight.add(
      make(i).then(
        (result) => void (results[i] = result),
        (error) => void failures.push({ i, error }),
      ),
    );
  }
  await flight.end();
  signal?.throwIfAborted();
  // All below one that failed have ended, so this is the first, whichever was the quickest.
  failures.sort((a, b) => a.i - b.i);
  if (failures[0] !== undefined) throw failures[0].error;
  return results;
}

/** The error about a sample that could not be made. */
export function sampleFailed(
  index: number,
  what: string,
  path: string | undefined,
  cause: unknown,
): DataError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const shown = what[0]!.toUpperCase() + what.slice(1);
  return new DataError("sample-failed", `${shown} failed: ${reason}`, {
    sample: index,
    path,
    cause,
  });
}
