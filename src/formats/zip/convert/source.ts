import type { PlanNotes } from "../../../convert/conversion.ts";
import { ArchiveSource } from "../../../convert/from/archive_source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

class ZipSource extends ArchiveSource {
  override readonly checksumChange =
    "the CRC-32 of each file is verified, but not kept";

  override noteFiles(notes: PlanNotes): void {
    notes.lost.push("comments, owners, modes and times of files");
    super.noteFiles(notes);
  }
}

export function zipSource(container: VirtualFs): ArchiveSource {
  return new ZipSource(container, "a zip");
}
