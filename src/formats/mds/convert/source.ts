import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** A dataset to be converted: each sample a directory of its values. */
class MdsSource extends ContainerSource {
  override readonly checksumChange =
    "hashes of shards are not compared: check compares them";

  override noteFiles({ kept, changed }: PlanNotes): void {
    kept.push("values and the order of samples");
    changed.push(
      "samples are directories, named by their numbers, and values are files",
      "numbers are JSON, arrays and bare pictures .npy",
    );
  }
}

/** A dataset to be converted. */
export function mdsSource(container: VirtualFs): ContainerSource {
  return new MdsSource(container, "MDS");
}
