import type { Steps } from "../../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../../tree/format.ts";
import type { Format } from "../format.ts";
import { checkRecordFiles } from "./check.ts";
import { containerOf } from "./tree/container.ts";
import { openRecordFiles } from "./read/record_files.ts";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
export const ffrecord: Format = { open, check: checkRecordFiles };

function* open(
  location: string,
  options: ContainerOptions,
): Steps<Container> {
  const files = yield* openRecordFiles(location, options);
  try {
    return yield* containerOf(files, options);
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}
