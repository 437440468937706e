import { FormatError } from "../../../base/errors.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type {
  ContainerOptions,
  DeferredContainer,
} from "../../../tree/format.ts";
import { type OpenAs, openAs } from "../kinds.ts";
import {
  completeHeaders,
  loadLastSample,
  loadLastSamples,
  openRecordFiles,
  type RecordFiles,
} from "../read/record_files.ts";
import { sampleContainer } from "./tree.ts";
import { endsInStructure } from "../folder/structure_magic.ts";

/**
 * Opens files for other threads to serve. Shows numbered samples without loading the tables or the code for structures;
 * loads both only for packed folders, whose structure is located through the tables.
 */
export async function openDeferred(
  location: string,
  options: ContainerOptions,
): Promise<DeferredContainer> {
  const files = await runAsync(openRecordFiles(location, options, true));
  const complete = () => runAsync(completeHeaders(files));
  try {
    if (await runAsync(areSamples(files, openAs(options)))) {
      if (await runAsync(endsEarly(files))) await complete();
      return { ...sampleContainer(files, options), complete };
    }
    await complete();
    const { containerOf } = await import("../folder/packed_files.ts");
    const container = await runAsync(containerOf(files, options));
    return { ...container, complete };
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}

/** Whether it is certain, before the tables are checked, that files show as numbered samples. */
function* areSamples(files: RecordFiles, as: OpenAs): Steps<boolean> {
  if (as === "samples" || files.index.length === 0) return as !== "packed";
  if (as === "packed") return false;
  yield* loadLastSample(files);
  try {
    return !(yield* endsInStructure(files, files.index.length - 1));
  } catch (error) {
    if (error instanceof FormatError) return false; // the checks will find out more
    throw error;
  }
}

/** Whether a file is truncated, so that its table must tell which samples are left. */
function* endsEarly(files: RecordFiles): Steps<boolean> {
  yield* loadLastSamples(files);
  return files.index.shards.some(({ count }, part) =>
    files.index.wholeOf(part) < count
  );
}
