import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { hasSamples } from "../kinds.ts";
import {
  hasOtherLinks,
  OTHER_LINKS,
} from "../../../tree/archive/archive_tree.ts";
import { tarsOf } from "../tree/open_tars.ts";

/** A tar, or shards of one, to be converted: as its files. */
class TarSource extends ContainerSource {
  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.kept.push("what links to files lead to");
    notes.changed.push("owners, modes and times of files are not read");
    const tars = tarsOf(this.container.tree) ?? [];
    if (tars.some(({ columns }) => hasOtherLinks(columns))) {
      notes.lost.push(OTHER_LINKS);
    }
    if (hasSamples(this.info.kind)) {
      notes.changed.push(
        "samples are files that have the same name up to its first dot",
      );
    }
  }
}

/** A tar to be converted. */
export function tarSource(container: VirtualFs): ContainerSource {
  const what = hasSamples(container.info.kind)
    ? "a tar of WebDataset"
    : "a tar";
  return new TarSource(container, what);
}
