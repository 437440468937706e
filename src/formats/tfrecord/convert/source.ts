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
        "examples become files of their bytes; extract --decoded writes files of their features",
      );
    }
  }
}

export function recordsSource(container: VirtualFs): RecordSource {
  const lost = "records lose their own checksums";
  return new TFRecordSource(container, "TFRecord", "records", lost);
}
