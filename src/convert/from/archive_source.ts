import { type NodeId, ROOT, type Tree } from "../../tree/tree.ts";
import type { PlanNotes } from "../conversion.ts";
import { ContainerSource } from "./source.ts";

export class ArchiveSource extends ContainerSource {
  /** Notes what becomes of links. */
  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.kept.push("the files that links lead to");
    if (hasOtherLinks(this.container.tree)) {
      notes.lost.push(
        "links that lead to a directory or to nothing",
      );
    }
  }
}

/** Values of a key-value store, as files named by their keys. */
export class KeyedSource extends ContainerSource {
  override readonly samplesAreFiles = true;

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.changed.push("keys are names of files");
  }
}

function hasOtherLinks(tree: Tree): boolean {
  const isLink = tree.isLink;
  if (isLink === undefined) return false;
  const directories: NodeId[] = [ROOT];
  let found = false;
  for (const directory of directories) {
    tree.list(directory, 0, (_name, _start, _end, node) => {
      if (isLink.call(tree, node)) {
        const target = tree.target!(node);
        found ||= target === 0 || tree.isDirectory(target);
      } else if (tree.isDirectory(node)) directories.push(node);
      return !found;
    });
    if (found) break;
  }
  return found;
}
