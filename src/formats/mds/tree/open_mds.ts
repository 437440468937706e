import type { Steps } from "../../../io/concurrency/steps.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { notedInfo, noteLines } from "../../../tree/archive/archive_notes.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { findShards } from "../read/find_shards.ts";
import { MdsSamples } from "../read/mds_samples.ts";
import { openShards } from "../read/open_shards.ts";
import { isCompressed } from "../read/shard_store.ts";
import { MdsTree } from "./mds_tree.ts";

/**
 * Opens a dataset or a single shard.
 *
 * @throws {FormatError} If the index is damaged, or every shard is missing, damaged or not supported.
 */
export function* openMds(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const found = yield* findShards(path, storage);
  const store = yield* openShards(found, storage);
  try {
    const samples = new MdsSamples(store);
    const tree = new MdsTree(samples, true, options.lastNode);
    const { shards } = store;
    const compressed = shards.filter(isCompressed).length;
    const notes = store.notes();
    warnOfAll(noteLines(notes), options.onWarning);
    const { facts: odd, ...noted } = notedInfo(notes);
    return {
      tree,
      samples,
      info: {
        format: "mds",
        kind: found.isAlone ? "a shard" : "samples in shards",
        files: tree.nodeCount - 1 - store.length - tree.listCount,
        directories: store.length + tree.listCount,
        bytes: shards.reduce((sum, { size }) => sum + size, 0),
        facts: {
          samples: store.length,
          ...compressed > 0 ? { compressed } : {},
          ...odd,
        },
        ...noted,
        parts: shards.map(({ path, size, samples }) => ({
          path,
          bytes: size,
          samples,
        })),
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
