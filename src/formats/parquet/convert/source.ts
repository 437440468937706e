import type { PlanNotes } from "../../../convert/conversion.ts";
import { ContainerSource } from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** Tables to convert: their rows, or for file targets a directory of cells per row. */
export class ParquetSource extends ContainerSource {
  /** Whether all rows of sound files are converted, so that files can be copied. */
  get isWhole(): boolean {
    const { samples } = this.container;
    return this.subset === undefined && samples?.shards.lost.length === 0;
  }

  get tables(): VirtualFs {
    return this.container;
  }

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
