import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { checkTables } from "../../io/index_cache/check_index_file.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openedAt } from "../../io/storage/open_file.ts";
import { encodeName } from "../../base/names.ts";
import { columnsToKeep } from "../../tree/archive/archive_columns.ts";
import { skippedError } from "../../tree/archive/archive_notes.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { daliPath, readDaliFiles } from "./read/dali_index.ts";
import { INDEX_KIND, refuseCompressed, scanAll } from "./read/open_index.ts";
import { widsFault } from "./read/wids.ts";
import { TarBuilder } from "./read/tar_builder.ts";
import { SampleGuess } from "./read/sample_guess.ts";
import { sampleCount, type TarIndex } from "./read/tar_columns.ts";
import { treeOf } from "./tree/open_tars.ts";
import { tarPaths } from "./tree/tar_paths.ts";
import type { TarTree } from "./tree/tar_tree.ts";

/**
 * Rescans the headers of tars and verifies their checksums; contents have none. Also checks that sizes fit the file,
 * that nothing follows its end, and that an adjacent index matches it.
 */
export async function checkTars(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const { paths, wids } = await run.run(tarPaths(location, run.storage));
  const known = new Map(wids?.map((shard) => [shard.path, shard]));
  const guess = new SampleGuess();
  let grouped = 0;
  const files = await run.files(paths, async (source) => {
    const { columns, groups } = await run.run(checkTar(source, run));
    guess.add(groups, columns);
    const shard = known.get(openedAt(source)?.path ?? source.name);
    const actual = { size: source.size, samples: sampleCount(columns) };
    const fault = shard && widsFault(shard, actual);
    if (fault !== undefined) run.damage(fault);
    grouped += sampleCount(columns);
    return columns.offsets.length;
  });
  const isGrouped = guess.isGrouped(options.format);
  for (const note of guess.notes(isGrouped)) run.warn(`${location}: ${note}`);
  const samples = isGrouped ? grouped : files;
  return run.report({ samples, compares: "structure" });
}

/** Indexes everything readable, whatever the damage. */
function* checkTar(source: ByteSource, run: CheckRun): Steps<TarIndex> {
  yield* refuseCompressed(source);
  const builder = new TarBuilder(
    source.name,
    (member) => run.damage(skippedError(member)),
  );
  const onDamage = (damage: FormatError) => run.damage(damage);
  for (const warning of yield* scanAll(source, builder, onDamage)) {
    run.warn(warning);
  }
  const index = builder.finish();
  const tree = treeOf(source, run.storage, index, false);
  for (const record of tree.unreadable()) {
    run.damage(tree.faultOf(record));
  }
  yield* checkDaliIndex(tree, run);
  const columns = columnsToKeep(index.columns);
  yield* checkTables(source, run, { kind: INDEX_KIND, columns });
  return index;
}

/** Compares the tar's DALI index, if there is one, with its headers. */
function* checkDaliIndex(tree: TarTree, run: CheckRun): Steps<void> {
  const { path } = tree.facts;
  const beside = daliPath(path);
  if (beside === undefined) return;
  const files = yield* readDaliFiles(beside, run.storage);
  if (files === undefined) return;
  const { offsets, sizes } = tree.columns;
  const stale = files.find(({ name, offset, size }) => {
    const record = tree.recordOf(tree.nodeAt(encodeName(name)));
    return record < 0 || offsets[record] !== offset || sizes[record] !== size;
  });
  if (stale === undefined) return;
  const { name: member, offset } = stale;
  run.damage(
    new FormatError(
      "bad-index",
      `Cannot use ${beside}: it says that '${member}' is at byte ` +
        `${offset} of ${path}, which is wrong. Make ${beside} ` +
        "again, or delete it",
      { path: beside, member, offset },
    ),
  );
}
