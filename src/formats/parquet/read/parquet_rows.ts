import { shardPaths } from "../../../io/storage/shards/shard_paths.ts";
import { type RowModule, rowModule } from "../../../tree/rows/reopen_rows.ts";
import type { RowFormat } from "../../../tree/rows/row_format.ts";
import { isNamedSo } from "../layout.ts";
import { CellReader } from "./cells.ts";
import { readFooter } from "./footer.ts";
import { loadLibrary } from "./library.ts";
import { Chunk, type ParquetFile } from "./parquet_index.ts";

/** Rows of Parquet files. */
export const PARQUET_ROWS: RowFormat<ParquetFile> = {
  name: "parquet",
  suffix: /\.(parquet|parq)$/i,
  module: import.meta.url,
  paths: (path, storage) =>
    shardPaths(path, storage, {
      format: "Parquet",
      examples: "x.parquet",
      isShard: isNamedSo,
    }),
  look: readFooter,
  load: () => loadLibrary("the package for Parquet"),
  bytesOf({ columns, chunks, leaves, firsts }, column) {
    const field = columns[column]!;
    let bytes = 0;
    for (let group = 0; group + 1 < firsts.length; group++) {
      for (let leaf = field.leaf; leaf < field.leaf + field.leaves; leaf++) {
        bytes += chunks[(group * leaves + leaf) * Chunk.FIELDS + Chunk.LENGTH]!;
      }
    }
    return bytes;
  },
  cells: (files, open, check, most) => new CellReader(files, open, check, most),
};

export const { reopenTree, reopenSamples }: RowModule<ParquetFile> = rowModule(
  PARQUET_ROWS,
);
