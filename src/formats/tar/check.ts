import { FormatError } from "../../base/errors.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { encodeName } from "../../base/names.ts";
import { skippedError } from "../../tree/archive/archive_notes.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { daliPath, readDaliFiles } from "./read/dali_index.ts";
import { refuseCompressed, scanAll } from "./read/open_index.ts";
import { TarBuilder } from "./read/tar_builder.ts";
import { SampleGuess } from "./read/sample_guess.ts";
import {
  sampleCount,
  type TarIndex,
  unreadableRecords,
} from "./read/tar_columns.ts";
import { treeOf } from "./tree/open_tars.ts";
import { tarPaths } from "./tree/tar_paths.ts";
import type { TarTree } from "./tree/tar_tree.ts";

/**
 * Reads the headers of tars anew, and compares them with their checksums; contents have none. Sizes have to fit the
 * file, nothing may follow its end, and an index beside it has to be of it.
 */
export async function checkTars(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  return await runAsync(check(location, options), options.signal);
}

function* check(location: string, options: CheckOptions): Steps<CheckReport> {
  const storage = options.storage ?? LOCAL_DISK;
  const { paths } = yield* tarPaths(location, storage);
  let total = 0;
  for (const path of paths) total += (yield* storage.stat(path))?.size ?? 0;
  let [files, samples, bytes, damaged] = [0, 0, 0, 0];
  const guess = new SampleGuess();
  const onDamage = (damage: FormatError) => {
    damaged++;
    options.onDamage(damage);
  };
  for (const path of paths) {
    const source = yield* openFile(storage, path);
    try {
      bytes += source.size;
      const { columns, groups } = yield* checkTar(
        source,
        storage,
        options,
        onDamage,
      );
      files += columns.offsets.length;
      samples += sampleCount(columns);
      guess.add(groups, columns);
    } finally {
      source.close();
    }
    options.onProgress?.(bytes, Math.max(bytes, total));
  }
  const isGrouped = guess.isGrouped(options.format);
  const { onWarning = warnOnConsole } = options;
  for (const note of guess.notes(isGrouped)) {
    onWarning(`${location}: ${note}`);
  }
  return {
    samples: isGrouped ? samples : files,
    bytes,
    damaged,
    compares: "structure",
  };
}

/** The index of what there is in spite of all damage. */
function* checkTar(
  source: ByteSource,
  storage: Storage,
  { onWarning = warnOnConsole }: CheckOptions,
  onDamage: (damage: FormatError) => void,
): Steps<TarIndex> {
  yield* refuseCompressed(source);
  const builder = new TarBuilder(
    source.name,
    (member) => onDamage(skippedError(member)),
  );
  for (const warning of yield* scanAll(source, builder, onDamage)) {
    onWarning(warning);
  }
  const index = builder.finish();
  const { columns } = index;
  const tree = treeOf(source, storage, index, false);
  for (const record of unreadableRecords(columns)) {
    onDamage(tree.faultOf(record));
  }
  yield* checkDaliIndex(tree, storage, onDamage);
  return index;
}

/** Compares the index that DALI may have made of the tar with its headers. */
function* checkDaliIndex(
  tree: TarTree,
  storage: Storage,
  onDamage: (damage: FormatError) => void,
): Steps<void> {
  const { path } = tree.facts;
  const beside = daliPath(path);
  if (beside === undefined) return;
  const files = yield* readDaliFiles(beside, storage);
  if (files === undefined) return;
  const { offsets, sizes } = tree.columns;
  const stale = files.find(({ name, offset, size }) => {
    const record = tree.recordOf(tree.nodeAt(encodeName(name)));
    return record < 0 || offsets[record] !== offset || sizes[record] !== size;
  });
  if (stale === undefined) return;
  const { name: member, offset } = stale;
  onDamage(
    new FormatError(
      "bad-index",
      `${beside} says that '${member}' is at byte ${offset} of ${path}, which is not so. Make ${beside} anew, or delete it`,
      { path: beside, member, offset },
    ),
  );
}
