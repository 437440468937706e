import type { Steps } from "../../../io/concurrency/steps.ts";
import { shardDirectories } from "../../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { isReachedInThreads } from "../../../io/storage/thread_storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import { recordContainer } from "../../../tree/records/record_container.ts";
import { openKnownShards } from "../../../tree/samples/open_shards.ts";
import type { FindPaths } from "../format.ts";
import type { LineKind } from "../kinds.ts";
import { openIndex } from "../read/row_index.ts";
import { RowSamples, RowTable } from "../read/row_samples.ts";
import { loadParser } from "../read/survey_rows.ts";
import { RowFileTree } from "./row_tree.ts";

/** Opens a file, or several as one, of which those that are not of this kind are skipped. Throws FormatError if all are. */
export function* openRows(
  kind: LineKind,
  path: string,
  pathsOf: FindPaths,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { decoded = false, sampleView = false, ext, lastNode } = options;
  const areDirectories = decoded || sampleView;
  const suffix = areDirectories ? "" : nameSuffix(ext) || kind.suffix;
  const { paths, areShards } = yield* pathsOf(path, storage);
  yield* loadParser(kind, path);
  const opened = yield* openKnownShards(
    storage,
    paths,
    (source) => openIndex(source, kind, options),
  );
  const { sources } = opened;
  const table = new RowTable(kind.name, opened.shards, opened.lost);
  const samples = new RowSamples(sources, table, storage, false);
  const tree = new RowFileTree(sources, table, {
    shards: areShards ? shardDirectories(table.paths, /\.\w+$/) : undefined,
    suffix,
    checkData: false,
    lastNode,
    isReached: isReachedInThreads(storage),
  }, areDirectories);
  const units = `${kind.unit}s`;
  const { all } = table.fields;
  return recordContainer(tree, samples, table, {
    format: kind.name,
    kind: areShards ? `${units} in shards` : units,
    facts: { [units]: table.length, ...all && { fields: all.length } },
    areShards,
    decoded: areDirectories,
    notes: table.notes(suffix),
    odd: table.shards.flatMap(({ path, facts: { notes } }) =>
      areShards ? notes.map((note) => `${path}: ${note}`) : notes
    ),
  }, options);
}
