import type { Steps } from "../../../io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { isReachedInThreads } from "../../../io/storage/thread_storage.ts";
import { warnOnConsole } from "../../../message_text.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import { inShards } from "../entry.ts";
import { openFiles } from "../read/record_files.ts";
import { recordPaths } from "../read/record_paths.ts";
import { RecordTree } from "./record_tree.ts";

/**
 * Opens a file, or several as one.
 *
 * @throws {FormatError} If one is damaged or compressed.
 */
export function* openRecords(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { checkData = true, asRows = false, ext, lastNode } = options;
  const { onWarning = warnOnConsole } = options;
  const suffix = nameSuffix(ext);
  const { paths, areShards } = yield* recordPaths(path, storage);
  const { sources, table } = yield* openFiles(paths, storage, options);
  const { kind, length } = table;
  const decoded = (options.decoded === true || asRows) && kind !== "records";
  if (options.decoded === true && !decoded && length > 0) {
    onWarning(
      `${path} has records that are no Examples of TensorFlow: they are shown as they are`,
    );
  }
  const tree = new RecordTree(sources, table, {
    shards: areShards ? directoriesOf(paths) : undefined,
    suffix: decoded ? "" : suffix,
    decoded,
    asRows: asRows && options.decoded !== true,
    checkData,
    lastNode,
    isReached: isReachedInThreads(storage),
  });
  const parts = table.files.map(({ size, columns }, i) => ({
    path: paths[i]!,
    bytes: size,
    samples: columns.sums.length,
  }));
  return {
    tree,
    info: {
      format: "tfrecord",
      kind: areShards ? inShards(kind) : kind,
      files: decoded ? 0 : length, // what an example has is not known before it is read
      directories: (areShards ? paths.length : 0) + (decoded ? length : 0),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      facts: { records: length },
      parts,
    },
  };
}

/** What files are called as directories: without the suffix, where that tells them apart. */
function directoriesOf(paths: readonly string[]): string[] {
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const short = names.map((name) => name.replace(/\.tfrecords?$/i, "") || name);
  return new Set(short).size === names.length ? short : names;
}
