import { ContainerSource } from "../../../convert/from/source.ts";
import type { PlanNotes } from "../../../convert/conversion.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** Conversion source of databases, as files by key. */
class DatabaseSource extends ContainerSource {
  override readonly samplesAreFiles = true;

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.changed.push("keys are names of files");
  }
}

export function databaseSource(container: VirtualFs): DatabaseSource {
  return new DatabaseSource(container, "an LMDB database");
}
