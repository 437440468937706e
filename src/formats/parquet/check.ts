import { FormatError } from "../../base/errors.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { checkRows } from "../../tree/rows/check_rows.ts";
import { MAGIC, MAGIC_SIZE } from "./layout.ts";
import { PARQUET_ROWS } from "./read/parquet_rows.ts";

/**
 * Decodes all pages of files, verifies their CRC-32 if present, and compares their values and rows with the counts of
 * headers, indexes and footers.
 */
export function checkParquet(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  return checkRows(PARQUET_ROWS, location, options, compareStart);
}

async function compareStart(source: ByteSource, run: CheckRun): Promise<void> {
  const head = await run.run(readPart(source, 0, MAGIC_SIZE));
  if (new DataView(head.buffer).getUint32(0, true) === MAGIC) return;
  const { name: path } = source;
  run.damage(
    new FormatError(
      "bad-structure",
      `Cannot read ${path}: it does not begin with PAR1, although ` +
        "it ends with it. Download or write the file again",
      { path, offset: 0 },
    ),
  );
}
