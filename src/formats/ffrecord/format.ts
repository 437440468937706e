import type { Steps } from "../../io/concurrency/steps.ts";
import type { Container, ContainerOptions, Format } from "../../tree/format.ts";
import { checkRecordFiles } from "./check.ts";
import { containerOf } from "./tree/container.ts";
import type { OpenAs } from "./folder/find_structures.ts";
import { openRecordFiles } from "./read/record_files.ts";
import {
  ffrecordPackedSignature,
  ffrecordSamplesSignature,
  ffrecordSignature,
} from "./signature.ts";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
export const ffrecord: Format = {
  ...ffrecordSignature,
  open: (location, options) => open(location, options, "detect"),
  check: (location, options) => checkRecordFiles(location, options, "detect"),
};

/** FFRecord opened as a packed folder or not at all. */
export const ffrecordPacked: Format = {
  ...ffrecordPackedSignature,
  open: (location, options) => open(location, options, "packed"),
  check: (location, options) => checkRecordFiles(location, options, "packed"),
};

/** FFRecord opened as numbered samples, whatever they are: also what is left of a damaged folder. */
export const ffrecordSamples: Format = {
  ...ffrecordSamplesSignature,
  open: (location, options) => open(location, options, "samples"),
  check: (location, options) => checkRecordFiles(location, options, "samples"),
};

function* open(
  location: string,
  options: ContainerOptions,
  as: OpenAs,
): Steps<Container> {
  const files = yield* openRecordFiles(location, options);
  try {
    return yield* containerOf(files, options, as);
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}
