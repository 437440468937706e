/** The files of Arrow that pyarrow wrote, and what it reads of them. */
import { goldenSet } from "../golden.ts";
import { fromFileUrl } from "../paths.ts";
import type { ParquetCase } from "../parquet/parquet_golden.ts";

/** `expect.json` of one case, as those of Parquet. */
export type ArrowCase = ParquetCase;

const GOLDENS = goldenSet<ArrowCase>("arrow");

/** One case. */
export const arrowCase = GOLDENS.one;

/** All cases. */
export const arrowCases = GOLDENS.all;

/** Path of a file that is refused. */
export function refusedFile(name: string): string {
  const url = new URL(`../../golden/arrow_refused/${name}`, import.meta.url);
  return fromFileUrl(url);
}
