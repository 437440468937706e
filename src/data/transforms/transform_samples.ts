import { messageOf } from "../../base/message_text.ts";
import { type GetOptions, STACK } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import { inFlight } from "../in_flight.ts";
import { Random } from "../random/random.ts";
import { ArrayRows, type TakeArray } from "./array_rows.ts";
import { finished, plannedStep } from "./compose.ts";
import { type FinishedImage, finishImage } from "./to_array.ts";
import type { Step } from "./transform.ts";

/**
 * Applies a transform to the samples of a batch, several at a time where it waits; for the `process` of
 * a dataset. What is random in it follows from the seed, the epoch and each sample's index.
 *
 * @param transform What to apply.
 * @param samples The batch.
 * @param indices The samples' indices in the dataset.
 * @param options What `process` was given. In a loader, arrays that `ToArray` makes lie in the batch's memory then:
 * what is kept longer than the batch has to be copied.
 * @returns What became of the samples, in their order; pictures as arrays `[height, width, channels]`.
 * @throws {DataError} With code `sample-failed` if the transform throws; `sample` is the index.
 */
export async function transformSamples<In, Out>(
  transform: Step<In, Out>,
  samples: readonly In[],
  indices: readonly number[],
  options: GetOptions = {},
): Promise<FinishedImage<Out>[]> {
  const run = plannedStep(transform);
  return await makeSamples(indices, options, async (i, random, take) => {
    const made = await run(samples[i]!, random);
    return finishImage(finished(made, take) as Out);
  });
}

/** What errors call a sample, besides its index, and how many are made at a time. */
interface SampleMaking {
  /** The file that a sample lies in, and what it is called. */
  readonly describe?: (
    index: number,
  ) => { readonly path: string | undefined; readonly name: string };
  /** As many as processors are good for, unless given. */
  readonly inFlight?: number | undefined;
}

/**
 * Makes the samples of a batch, several at a time where that waits. What is random in one follows from the seed, the
 * epoch and its index.
 *
 * @param make Makes one, by its place in the batch; its array may lie in the memory that `take` gives.
 * @throws {DataError} With code `sample-failed` if one cannot be made; `sample` is the index.
 */
export async function makeSamples<T>(
  indices: readonly number[],
  options: GetOptions,
  make: (i: number, random: Random, take: TakeArray) => Promise<T>,
  { describe, inFlight: most }: SampleMaking = {},
): Promise<T[]> {
  const { seed = 0, epoch = 0, signal } = options;
  const rows = new ArrayRows(options[STACK], indices.length);
  const makeOne = async (i: number) => {
    const index = indices[i]!;
    try {
      return await make(i, new Random(seed, epoch, index), rows.row(i));
    } catch (cause) {
      if (signal?.aborted) throw cause;
      const { path, name } = describe?.(index) ?? {};
      const what = name === undefined ? `${index}` : `${index}, ${name},`;
      throw new DataError(
        "sample-failed",
        `Sample ${what} failed: ${messageOf(cause)}`,
        { sample: index, path, cause },
      );
    }
  };
  return await inFlight(indices.length, makeOne, signal, most);
}
