import { fileError } from "../../../codecs/cells/cell_fault.ts";
import { ended } from "../../../io/concurrency/steps.ts";
import { shardPaths } from "../../../io/storage/shards/shard_paths.ts";
import { type RowModule, rowModule } from "../../../tree/rows/reopen_rows.ts";
import type { RowFormat } from "../../../tree/rows/row_format.ts";
import { isNamedSo, SUFFIX } from "../layout.ts";
import { bytesOf } from "./dataset.ts";
import { readFile } from "./read_file.ts";
import { Hdf5Cells, type Hdf5Rows } from "./row_cells.ts";

/** Rows of HDF5 files. */
export const HDF5_ROWS: RowFormat<Hdf5Rows> = {
  name: "hdf5",
  suffix: SUFFIX,
  module: import.meta.url,
  paths: (path, storage) =>
    shardPaths(path, storage, {
      format: "HDF5",
      examples: "x.h5",
      isShard: isNamedSo,
    }),
  *look(source, _onWarning, options) {
    const { rows } = yield* readFile(source, options);
    if (rows !== undefined) return rows;
    throw fileError(source.name, "it has no rows", "unsupported");
  },
  load: () => ended(undefined),
  bytesOf: ({ datasets }, column) => bytesOf(datasets[column]!),
  cells: (files, open, _check, most) => new Hdf5Cells(files, open, most),
};

export const { reopenTree, reopenSamples }: RowModule<Hdf5Rows> = rowModule(
  HDF5_ROWS,
);
