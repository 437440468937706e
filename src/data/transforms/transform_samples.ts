import { messageOf } from "../../base/message_text.ts";
import { type GetOptions, STACK } from "../dataset.ts";
import { DataError } from "../data_error.ts";
import { inFlight } from "../in_flight.ts";
import { Random } from "../random/random.ts";
import { ArrayRows } from "./array_rows.ts";
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
  const { seed = 0, epoch = 0, signal } = options;
  const rows = new ArrayRows(options[STACK], indices.length);
  return await inFlight(indices.length, async (i) => {
    const index = indices[i]!;
    try {
      const made = await run(samples[i]!, new Random(seed, epoch, index));
      return finishImage(finished(made, rows.row(i)) as Out);
    } catch (cause) {
      throw sampleFailed(index, `sample ${index}`, undefined, cause);
    }
  }, signal);
}

/** The error about a sample that could not be made. */
export function sampleFailed(
  index: number,
  what: string,
  path: string | undefined,
  cause: unknown,
): DataError {
  const shown = what[0]!.toUpperCase() + what.slice(1);
  return new DataError(
    "sample-failed",
    `${shown} failed: ${messageOf(cause)}`,
    {
      sample: index,
      path,
      cause,
    },
  );
}
