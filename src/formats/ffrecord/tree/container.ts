import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { openAs, PACKED_FOLDER } from "../entry.ts";
import { structuresAs } from "../folder/find_structures.ts";
import { nameFiles } from "./name_files.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { describe, newest, sampleContainer } from "./sample_container.ts";
import type { PlacedStructure } from "../folder/structure.ts";
import { PackedTree } from "./tree.ts";

/** Shows files, by their names where they are packed folders. */
export function* containerOf(
  files: RecordFiles,
  options: ContainerOptions,
): Steps<Container> {
  const placed = yield* structuresAs(openAs(options), files, options);
  if (placed.length > 0) return packedContainer(files, placed);
  return sampleContainer(files, options.ext);
}

function packedContainer(
  files: RecordFiles,
  placed: readonly PlacedStructure[],
): Container {
  const names = nameFiles(files, placed);
  const whole = placed[0]!.folder === undefined;
  const tree = new PackedTree({ ...files, mtime: newest(files) }, names);
  const directories = names.columns.directoryEntries.length - 1;
  return {
    tree,
    info: {
      ...describe(
        files,
        whole ? PACKED_FOLDER : "directory of packed folders",
        tree,
      ),
      files: names.length - 1 - directories,
      directories,
    },
  };
}
