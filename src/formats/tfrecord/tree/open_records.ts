import type { Steps } from "../../../io/concurrency/steps.ts";
import { shardDirectories } from "../../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { isReachedInThreads } from "../../../io/storage/thread_storage.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import { recordContainer } from "../../../tree/records/record_container.ts";
import { inShards } from "../kinds.ts";
import { openRecordSamples } from "../read/record_samples.ts";
import { recordPaths } from "../read/record_paths.ts";
import { TFRecordTree } from "./record_tree.ts";

/**
 * Opens one file, or several as one container. Throws FormatError if a file is compressed, the first length of the only
 * one is wrong, or no record is whole.
 */
export function* openRecords(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { checkData = true, sampleView: sampleView = false, ext, lastNode } =
    options;
  const { onWarning = warnOnConsole } = options;
  const suffix = nameSuffix(ext);
  const { paths, areShards } = yield* recordPaths(path, storage);
  const samples = yield* openRecordSamples(paths, storage, options);
  const { sources, shards: table } = samples;
  const { kind, length } = table;
  const decoded = (options.decoded === true || sampleView) &&
    kind !== "records";
  if (options.decoded === true && !decoded && length > 0) {
    onWarning(
      `${path} has records that are not Examples of TensorFlow: they are ` +
        "shown as they are",
    );
  }
  const notes = table.notes(decoded ? "" : suffix);
  const tree = new TFRecordTree(
    sources,
    table,
    {
      shards: areShards
        ? shardDirectories(table.paths, /\.tfrecords?$/i)
        : undefined,
      suffix: decoded ? "" : suffix,
      checkData,
      lastNode,
      isReached: isReachedInThreads(storage),
    },
    decoded ? { isOneForm: sampleView && options.decoded !== true } : undefined,
  );
  return recordContainer(
    tree,
    samples,
    table,
    {
      format: "tfrecord",
      kind: areShards ? inShards(kind) : kind,
      facts: { records: length },
      areShards,
      decoded,
      notes,
    },
    options,
  );
}
