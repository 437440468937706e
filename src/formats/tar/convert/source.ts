import type { PlanNotes } from "../../../convert/conversion.ts";
import { ArchiveSource } from "../../../convert/from/archive_source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { hasSamples } from "../kinds.ts";

/** Files of a tar, or of its shards, for conversion. */
class TarSource extends ArchiveSource {
  override readonly samplesAreFiles = true;

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.changed.push("owners, modes and times of files are not read");
    if (hasSamples(this.info.kind)) {
      notes.changed.push(
        "files with the same name up to the first dot are a sample",
      );
    }
  }
}

export function tarSource(container: VirtualFs): ArchiveSource {
  const what = hasSamples(container.info.kind)
    ? "a tar of WebDataset"
    : "a tar";
  return new TarSource(container, what);
}
