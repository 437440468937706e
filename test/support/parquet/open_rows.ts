/** Opens Parquet rows with the types of their values. */
import type { TableRow } from "../../../src/tree/rows/row_samples.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../../../src/open/samples/open_samples.ts";
import type { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";

/** Opens files as one sequence of rows. */
export function openRows(
  path: string,
  options?: OpenSamplesOptions,
): Promise<OpenedSamples<TableRow, TableRow>> {
  return openSamples(path, options);
}
