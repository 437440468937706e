import { warnOfAll } from "../../base/message_text.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { shardDirectories } from "../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { notedInfo, noteLines } from "../archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../format.ts";
import { lostNotes, openShards } from "../samples/open_shards.ts";
import { fieldTree } from "../samples/range_tree.ts";
import {
  type ArrayFile,
  type ArrayFormat,
  ArraySamples,
} from "./array_samples.ts";
import { arrayTree } from "./array_tree.ts";

/**
 * Opens files of named arrays as one container. Of several files, damaged ones are skipped.
 *
 * @param suffix Suffix of files that are each shown as a directory; if absent, all arrays are in the root.
 * @param look Reads the tables of a file.
 * @throws {FormatError} If the only file is damaged, or all are.
 */
export function* openArrays<F extends ArrayFile>(
  format: ArrayFormat<F>,
  paths: readonly string[],
  suffix: RegExp | undefined,
  options: ContainerOptions,
  look: (source: ByteSource, at: number) => Steps<F>,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { sources, shards, lost } = yield* openShards(storage, paths, look);
  const samples = new ArraySamples(format, sources, shards, storage, lost);
  const directories = suffix && shardDirectories(samples.shards.paths, suffix);
  const tree = options.sampleView === true
    ? fieldTree(samples, { shards: directories, suffix: "" })
    : arrayTree(samples, format.metadataName, directories);
  const notes = lostNotes(lost);
  warnOfAll(noteLines(notes), options.onWarning);
  const { facts, ...noted } = notedInfo(notes);
  const shown = (directories?.length ?? 0) +
    (options.sampleView === true ? samples.shards.length : 0);
  return {
    tree,
    samples,
    info: {
      format: format.name,
      kind: paths.length > 1 ? `${format.unit}s in shards` : `${format.unit}s`,
      files: tree.nodeCount - 1 - shown,
      directories: shown,
      bytes: shards.reduce((sum, { size }) => sum + size, 0),
      facts: { [`${format.unit}s`]: samples.shards.length, ...facts },
      ...noted,
      parts: shards.map(({ path, size, count }) => ({
        path,
        bytes: size,
        samples: count,
      })),
    },
  };
}
