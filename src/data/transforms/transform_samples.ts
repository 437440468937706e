import { messageOf } from "../../base/message_text.ts";
import { type GetOptions, STACK } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import { inFlight } from "../in_flight.ts";
import { Random } from "../random/random.ts";
import { ArrayRows, type TakeArray } from "./array_rows.ts";
import { finished, plannedStep } from "./compose.ts";
import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import type { Picture } from "./picture.ts";
import { finishImage } from "./to_array.ts";
import type { Step } from "./transform.ts";

/**
 * Applies a transform to the samples of a batch, several concurrently if it waits; for the `process` of a dataset.
 * Its random numbers depend on the seed, the epoch and each sample's index.
 *
 * @param transform Transform to apply.
 * @param samples Samples of the batch.
 * @param indices Indices of the samples in the dataset.
 * @param options Options that `process` received. With those of a loader, the arrays of `ToArray` lie in the
 * batch's memory: copy what is kept longer than the batch.
 * @returns The transformed samples, in order; pictures as arrays `[height, width, channels]`.
 * @throws {DataError} With code `sample-failed` if the transform throws; `sample` is the index.
 */
export async function transformSamples<In, Out>(
  transform: Step<In, Out>,
  samples: readonly In[],
  indices: readonly number[],
  options: GetOptions = {},
): Promise<(Out extends Picture ? NdArray : Out)[]> {
  const run = plannedStep(transform);
  return await makeSamples(indices, options, async (i, random, take) => {
    const made = await run(samples[i]!, random);
    const sample = finishImage(finished(made, take));
    return sample as Out extends Picture ? NdArray : Out;
  });
}

interface SampleMaking {
  readonly describe?: (
    index: number,
  ) => { readonly path: string | undefined; readonly name: string };
  /** Maximum number made concurrently. Defaults to a number that suits the processors. */
  readonly inFlight?: number | undefined;
}

/**
 * Makes the samples of a batch, several concurrently if that waits. The random numbers of each depend on the seed,
 * the epoch and its index.
 *
 * @param make Makes a sample by its position in the batch. It may allocate its array with `take`.
 * @throws {DataError} With code `sample-failed` if a sample cannot be made; `sample` is the index.
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
      const what = name === undefined ? `${index}` : `${index}, ${name}`;
      throw new DataError(
        "sample-failed",
        `Cannot make sample ${what}: ${messageOf(cause)}`,
        { sample: index, path, cause },
      );
    }
  };
  return await inFlight(indices.length, makeOne, signal, most);
}
