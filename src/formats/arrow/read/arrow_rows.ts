import { loadArrays, loadedArrays } from "../../../codecs/columnar/arrays.ts";
import { perform } from "../../../io/concurrency/steps.ts";
import { mustWait } from "../../../io/storage/must_wait.ts";
import { type RowModule, rowModule } from "../../../tree/rows/reopen_rows.ts";
import { splitPaths } from "../../../tree/rows/split_paths.ts";
import type { RowFormat } from "../../../tree/rows/row_format.ts";
import { isNamedSo, SPLITS_FILE, SUFFIX } from "../layout.ts";
import { ArrowCells, type ArrowFile } from "./arrow_cells.ts";
import { openIndex } from "./open_index.ts";

/** Rows of Arrow files. */
export const ARROW_ROWS: RowFormat<ArrowFile> = {
  name: "arrow",
  suffix: SUFFIX,
  module: import.meta.url,
  paths: (path, storage) =>
    splitPaths(path, storage, {
      format: "Arrow",
      examples: "x.arrow",
      isShard: isNamedSo,
      splitsFile: SPLITS_FILE,
    }),
  look: openIndex,
  load: () =>
    perform<unknown>({
      sync() {
        if (!loadedArrays()) throw mustWait("the package for Arrow");
      },
      async: loadArrays,
    }),
  bytesOf: ({ sizes }, column) => sizes[column]!,
  cells: (files, open, _check, most) => new ArrowCells(files, open, most),
};

export const { reopenTree, reopenSamples }: RowModule<ArrowFile> = rowModule(
  ARROW_ROWS,
);
