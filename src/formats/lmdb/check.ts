import { skippedError } from "../../tree/archive/archive_notes.ts";
import type { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readSlices } from "../../io/read/read_slices.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { memberError } from "../../tree/archive/member_error.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { GrowingNumbers } from "../../tree/growing_numbers.ts";
import {
  PageField,
  PageFlag,
  pageKind,
  Size,
  viewOf,
  wordAt,
} from "./layout.ts";
import { Fault } from "./read/faults.ts";
import { IndexBuilder } from "./read/index_builder.ts";
import { type Meta, readMeta, requireCurrent } from "./read/meta.ts";
import { Walk } from "./read/walk.ts";
import { databasePaths } from "./tree/database_paths.ts";
import { LmdbTree } from "./tree/lmdb_tree.ts";

/**
 * Checks the pages of databases: that each is what its parent says, is used once, and lies in the file; the numbers of
 * pages and values that are recorded; and the headers of overflow pages. Contents have no checksums.
 */
export async function checkDatabases(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths } = await run.run(databasePaths(location, run.storage));
  const samples = await run.files(
    paths,
    (source) => run.run(checkFile(run, source)),
  );
  return run.report({ samples, compares: "structure" });
}

/** Builds an index, and records which values are on overflow pages. */
class CheckedBuilder extends IndexBuilder {
  /** Per value on overflow pages: its record, and the first page. */
  readonly records = new GrowingNumbers(2 ** 32);
  readonly pages = new GrowingNumbers();
  readonly #run: CheckRun;

  constructor(source: ByteSource, run: CheckRun) {
    super(source.name, "", (member) => run.damage(skippedError(member)));
    this.#run = run;
  }

  override value(
    offset: number,
    length: number,
    fault: number,
    page: number,
  ): boolean {
    const isAdded = super.value(offset, length, fault, page);
    if (isAdded && page > 0 && fault === Fault.NONE) {
      this.records.push(this.length - 1);
      this.pages.push(page);
    }
    return isAdded;
  }

  override damage(error: FormatError): void {
    this.#run.damage(error);
  }
}

/** @returns Number of values found. */
function* checkFile(run: CheckRun, source: ByteSource): Steps<number> {
  const meta = yield* readMeta(source);
  const builder = new CheckedBuilder(source, run);
  if (meta.fault !== undefined) run.damage(meta.fault);
  yield* new Walk(source, meta, builder).all();
  const { columns } = builder.finish();
  const { path, size, mtime } = { ...source, path: source.name };
  const tree = new LmdbTree({ path, size, mtime, columns, meta });
  for (const record of tree.unreadable()) run.damage(tree.faultOf(record));
  yield* checkOverflow(run, source, meta, builder, tree);
  yield* requireCurrent(source, meta);
  return columns.lengths.length;
}

/** Headers of overflow pages that are read together. */
const BATCH = 1024;

/** Checks the headers of overflow pages, and that no two values share pages. */
function* checkOverflow(
  run: CheckRun,
  source: ByteSource,
  { pageSize }: Meta,
  { records, pages }: CheckedBuilder,
  tree: LmdbTree,
): Steps<void> {
  const order = new Uint32Array(records.length).map((_, i) => i)
    .sort((a, b) => pages.at(a) - pages.at(b));
  let past = 0;
  for (let from = 0; from < order.length; from += BATCH) {
    const batch = order.subarray(from, from + BATCH);
    const slices = Array.from(batch, (i) => ({
      source: 0,
      offset: pages.at(i) * pageSize,
      length: Size.PAGE_HEADER,
    }));
    const heads = yield* readSlices([source], slices);
    for (const [k, i] of batch.entries()) {
      const view = viewOf(heads[k]!);
      const [page, record] = [pages.at(i), records.at(i)];
      const bytes = Size.PAGE_HEADER + tree.columns.lengths[record]!;
      const count = view.getUint32(PageField.OVERFLOW_PAGES, true);
      const isHead = pageKind(view) === PageFlag.OVERFLOW &&
        wordAt(view, PageField.NUMBER) === page && count * pageSize >= bytes;
      if (!isHead || page < past) {
        const why = isHead
          ? `page ${page}, where it begins, belongs to another value as well`
          : `page ${page}, where it begins, is not its overflow page`;
        const name = tree.pathOf(record);
        const { name: path } = source;
        const hint = "Download the database again";
        run.damage(
          memberError("bad-structure", path, name, `${why}. ${hint}`, {
            offset: page * pageSize,
          }),
        );
      }
      past = Math.max(past, page + Math.ceil(bytes / pageSize));
    }
  }
}
