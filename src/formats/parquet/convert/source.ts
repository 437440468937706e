import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

class ParquetSource extends ContainerSource {
  override noteFiles({ kept, changed }: PlanNotes): void {
    kept.push("rows, their order, and the values of their cells");
    changed.push(
      "cells become files named by their columns: bytes and text unchanged, everything else as JSON",
      "files record neither the types of columns, nor whether a text is missing or empty",
    );
  }
}

export function parquetSource(container: VirtualFs): ContainerSource {
  return new ParquetSource(container, "Parquet");
}
