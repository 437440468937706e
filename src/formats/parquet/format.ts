import type { Format } from "../format.ts";
import { checkParquet } from "./check.ts";
import { parquetPaths } from "./read/parquet_files.ts";
import { openParquet } from "./tree/open_parquet.ts";

/** Parquet: rows of tables, in files and shards. */
export const parquet: Format = {
  open: openParquet,
  *patternPaths(pattern, storage) {
    return (yield* parquetPaths(pattern, storage)).paths;
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
