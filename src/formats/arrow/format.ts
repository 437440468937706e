import { checkRows } from "../../tree/rows/check_rows.ts";
import { openRows } from "../../tree/rows/open_rows.ts";
import type { Format } from "../format.ts";
import { ARROW_ROWS } from "./read/arrow_rows.ts";

/** Arrow IPC: rows of tables, in files, streams and shards. */
export const arrow: Format = {
  open: (path, options) => openRows(ARROW_ROWS, path, options),
  *patternPaths(pattern, storage) {
    return (yield* ARROW_ROWS.paths(pattern, storage)).paths;
  },
  check: (path, options) => checkRows(ARROW_ROWS, path, options),
  async openSource(container) {
    const { RowsSource } = await import("../../convert/from/rows_source.ts");
    return new RowsSource(container, "Arrow");
  },
};
