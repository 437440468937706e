import { openRows } from "../../tree/rows/open_rows.ts";
import type { Format } from "../format.ts";
import { checkParquet } from "./check.ts";
import { PARQUET_ROWS } from "./read/parquet_rows.ts";

/** Parquet: rows of tables, in files and shards. */
export const parquet: Format = {
  open: (path, options) => openRows(PARQUET_ROWS, path, options),
  *patternPaths(pattern, storage) {
    return (yield* PARQUET_ROWS.paths(pattern, storage)).paths;
  },
  check: checkParquet,
  async openSource(container) {
    const { parquetSource } = await import("./convert/source.ts");
    return parquetSource(container);
  },
  async target() {
    const { parquetTarget } = await import("./convert/target.ts");
    return parquetTarget;
  },
};
