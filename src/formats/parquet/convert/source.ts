import { RowsSource } from "../../../convert/from/rows_source.ts";
import type { RowSamples } from "../../../tree/rows/row_samples.ts";
import type { ParquetFile } from "../read/parquet_index.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** Parquet to convert, whose files may be copied. */
export class ParquetSource extends RowsSource {
  /** Whether all rows of sound files are converted, so that files can be copied. */
  get isWhole(): boolean {
    const { samples } = this.container;
    return this.subset === undefined && samples?.shards.lost.length === 0;
  }

  /** Rows of the tables. */
  get rows(): RowSamples<ParquetFile> {
    return this.container.samples as RowSamples<ParquetFile>;
  }

  /** Indices of the rows to convert; `undefined` for all. */
  get indices(): ArrayLike<number> | undefined {
    return this.sampleIndices;
  }

  get tables(): VirtualFs {
    return this.container;
  }
}

export function parquetSource(container: VirtualFs): ParquetSource {
  return new ParquetSource(container, "Parquet");
}
