import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import {
  hasOtherLinks,
  OTHER_LINKS,
} from "../../../tree/archive/archive_tree.ts";
import { ZipTree } from "../tree/zip_tree.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** A zip to be converted: as its files. */
class ZipSource extends ContainerSource {
  override readonly checksumChange =
    "the CRC-32 of each file is compared, and not kept";

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.kept.push("what links to files lead to");
    notes.lost.push("comments, owners, modes and times of files");
    const { tree } = this.container;
    if (tree instanceof ZipTree && hasOtherLinks(tree.columns)) {
      notes.lost.push(OTHER_LINKS);
    }
  }
}

/** A zip to be converted. */
export function zipSource(container: VirtualFs): ContainerSource {
  return new ZipSource(container, "a zip");
}
