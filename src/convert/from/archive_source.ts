import type { Tree } from "../../tree/tree.ts";
import type { PlanNotes } from "../conversion.ts";
import { ContainerSource } from "./source.ts";

export class ArchiveSource extends ContainerSource {
  /** Notes what becomes of links. */
  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.kept.push("what links to files lead to");
    if (hasOtherLinks(this.container.tree)) {
      notes.lost.push(
        "links that lead to no file, but to a directory or nothing",
      );
    }
  }
}

function hasOtherLinks(tree: Tree): boolean {
  if (tree.isLink === undefined) return false;
  for (let node = 1; node <= tree.nodeCount; node++) {
    if (!tree.isLink(node)) continue;
    const target = tree.target!(node);
    if (target === 0 || tree.isDirectory(target)) return true;
  }
  return false;
}
