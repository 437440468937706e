import type { PlanNotes } from "../conversion.ts";
import { ContainerSource } from "./source.ts";

/** Tables to convert: their rows, or for file targets a directory of cells per row. */
export class RowsSource extends ContainerSource {
  override noteFiles({ kept, changed }: PlanNotes): void {
    kept.push("rows, their order, and the values of their cells");
    changed.push(
      "cells become files named by their columns: bytes and text unchanged, everything else as JSON",
      "files record neither the types of columns, nor whether a text is missing or empty",
    );
  }
}
