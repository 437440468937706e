import type { Assignment } from "../../data/split/assignment.ts";
import { IndexOutput } from "../../data/index_output.ts";
import { runAsync } from "../../io/concurrency/steps.ts";

/** A file of the indices of one split. */
export interface SplitFile {
  readonly path: string;
  /** Lines for people at its start. */
  readonly comments: readonly string[];
}

/**
 * Writes the indices of each split to its file. All of them appear when all are complete.
 *
 * @param length How many samples there are to assign.
 * @param onProgress Told how many have been assigned.
 */
export async function writeSplits(
  files: readonly SplitFile[],
  assignment: Assignment,
  length: number,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const outputs: IndexOutput[] = [];
  try {
    for (const { path, comments } of files) {
      outputs.push(await runAsync(IndexOutput.create(path, comments), signal));
    }
    for (let index = 0; index < length; index++) {
      const output = outputs[assignment.next()]!;
      output.add(index);
      if (!output.full) continue;
      await runAsync(output.flush(), signal);
      onProgress(index + 1);
    }
    for (const output of outputs) await runAsync(output.finish(), signal);
    for (const output of outputs) await runAsync(output.publish());
  } finally {
    for (const output of outputs) output.discard();
  }
}
