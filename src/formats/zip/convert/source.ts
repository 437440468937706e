import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../vfs/virtual_fs.ts";

/** A zip to be converted: as its files. */
class ZipSource extends ContainerSource {
  override readonly checksumChange =
    "the CRC-32 of each file is compared, and not kept";

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.lost.push("comments, owners, modes and times of files");
  }
}

/** A zip to be converted. */
export function zipSource(container: VirtualFs): ContainerSource {
  return new ZipSource(container, "a zip");
}
