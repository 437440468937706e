import type { ByteSource } from "../../io/storage/byte_source.ts";
import { checkContents } from "../../tree/check/check_contents.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { refuseCompressed } from "./read/open_index.ts";
import { recordPaths } from "./read/record_paths.ts";
import { TFRecordTable } from "./read/record_table.ts";
import { scanRecords } from "./read/scan.ts";

/**
 * Compares every length and every record of files with its checksum. Nothing can be found after a wrong length: the
 * check reports it, and continues with the next file.
 */
export async function checkRecords(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths } = await run.run(recordPaths(location, run.storage));
  const samples = await run.files(paths, (source) => checkFile(run, source));
  return run.report({ samples });
}

/** @returns Number of records found. */
async function checkFile(run: CheckRun, source: ByteSource): Promise<number> {
  const { name: path, size, mtime } = source;
  await run.run(refuseCompressed(source));
  const { columns, cut } = await run.run(scanRecords(source, true));
  const table = new TFRecordTable([
    { path, size, mtime, columns, cut, kind: "records" },
  ]);
  await checkContents(run, {
    length: table.length,
    sources: [source],
    checksumKind: "crc32c",
    locate: (record, into) => table.locate(record, into),
    mismatch: (...found) => table.mismatch(...found),
  });
  if (cut !== undefined) run.damage(table.cutError(0));
  return table.length;
}
