import { RecordSource } from "../../../convert/from/source.ts";
import type { PlanNotes } from "../../../convert/conversion.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { areExamples } from "../kinds.ts";

/** Conversion source of TFRecord files, as their records. */
class TFRecordSource extends RecordSource {
  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    if (areExamples(this.info.kind)) {
      notes.changed.push(
        "examples are files of their bytes: extract --decoded makes files of their features",
      );
    }
  }
}

export function recordsSource(container: VirtualFs): RecordSource {
  const lost = "records have no checksums of their own";
  return new TFRecordSource(container, "TFRecord", "records", lost);
}
