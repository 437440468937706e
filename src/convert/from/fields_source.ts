import type { PlanNotes } from "../conversion.ts";
import { ContainerSource } from "./source.ts";

/** Samples of fields to convert, or for file targets a directory of values per sample. */
export class FieldsSource extends ContainerSource {
  /** Notes what becomes of samples as files. */
  override noteFiles({ kept, changed }: PlanNotes): void {
    kept.push("values and the order of samples");
    changed.push(
      "samples become directories named by their numbers, and values become files",
      "numbers become JSON, arrays and raw pictures .npy",
    );
  }
}
