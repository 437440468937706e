import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { openAs } from "../entry.ts";
import { packedNames } from "../folder/packed_files.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { sampleContainer, showFiles } from "./tree.ts";

/** Shows files, by their names where they are packed folders. */
export function* containerOf(
  files: RecordFiles,
  options: ContainerOptions,
): Steps<Container> {
  const packed = yield* packedNames(files, openAs(options), options);
  return packed === undefined
    ? sampleContainer(files, options.ext)
    : showFiles(files, packed.names, packed.kind);
}
