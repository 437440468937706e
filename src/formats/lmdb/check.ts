import { viewOf } from "../../base/view_of.ts";
import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readSlices } from "../../io/read/read_slices.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { checkStore } from "../../tree/keyed/keyed_index.ts";
import { Kind, kindOf, Size, wordAt } from "./layout.ts";
import { readSnapshot } from "./read/meta.ts";
import { databasePaths, formatOf } from "./read/open_databases.ts";
import type { OverflowValue } from "./read/walk.ts";

/**
 * Checks the pages of databases: that each is what its parent says, is used once, and lies in the file; the recorded
 * numbers of values; and the headers of overflow pages. Contents have no checksums.
 */
export async function checkDatabases(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths } = await run.run(databasePaths(location, run.storage));
  const check = (source: ByteSource) => run.run(checkFile(run, source));
  const samples = await run.files(paths, check);
  return run.report({ samples, compares: "structure" });
}

/** Headers of overflow pages that are read together. */
const BATCH = 1024;

/** @returns Number of values found. */
function* checkFile(run: CheckRun, source: ByteSource): Steps<number> {
  const snapshot = yield* readSnapshot(source, run.storage);
  const values: OverflowValue[] = [];
  const format = formatOf(source, snapshot, values);
  const count = yield* checkStore(run, source, format);
  const { pageSize } = snapshot;
  values.sort(([a], [b]) => a - b);
  let past = 0;
  for (let from = 0; from < values.length; from += BATCH) {
    const batch = values.slice(from, from + BATCH);
    const slices = batch.map(([page]) => {
      return { source: 0, offset: page * pageSize, length: Size.PAGE_HEADER };
    });
    const heads = yield* readSlices([source], slices);
    for (const [i, [page, length]] of batch.entries()) {
      const view = viewOf(heads[i]!);
      const bytes = view.getUint32(12, true) * pageSize;
      const isHead = kindOf(view) === Kind.OVERFLOW &&
        wordAt(view, 0) === page && bytes >= Size.PAGE_HEADER + length;
      const isApart = page >= past;
      past = page + Math.ceil((Size.PAGE_HEADER + length) / pageSize);
      if (isHead && isApart) continue;
      const { name: path } = source;
      const message = `Cannot read page ${page} of ${path}: it does not ` +
        `begin a value of ${length} bytes. Download the database again`;
      const facts = { path, offset: page * pageSize };
      run.damage(new FormatError("bad-structure", message, facts));
    }
  }
  return count;
}
