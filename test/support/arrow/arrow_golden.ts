/** The Arrow files that pyarrow wrote, and the values that it reads from them. */
import { goldenSet } from "../golden.ts";
import { fromFileUrl } from "../paths.ts";
import type { ParquetCase } from "../parquet/parquet_golden.ts";

/** `expect.json` of one case, in the form of the Parquet cases. */
export type ArrowCase = ParquetCase;

const GOLDENS = goldenSet<ArrowCase>("arrow");

/** Reads one case. */
export const arrowCase = GOLDENS.one;

/** Reads all cases. */
export const arrowCases = GOLDENS.all;

/** Returns the path of a file that must be rejected. */
export function refusedFile(name: string): string {
  const url = new URL(`../../golden/arrow_refused/${name}`, import.meta.url);
  return fromFileUrl(url);
}
