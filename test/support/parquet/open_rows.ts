/** Rows of Parquet with the types that their values have. */
import type { ParquetRow } from "../../../src/formats/parquet/read/row_samples.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../../../src/open/samples/open_samples.ts";
import type { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";

/** Opens files, as one. */
export function openRows(
  path: string,
  options?: OpenSamplesOptions,
): Promise<OpenedSamples<ParquetRow, ParquetRow>> {
  return openSamples(path, options);
}
