import type { Steps } from "../../io/concurrency/steps.ts";
import { warnOfAll } from "../../base/message_text.ts";
import { notedInfo, noteLines } from "../archive/archive_notes.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../format.ts";
import type { FindShards } from "./shard_index.ts";
import { FieldSamples } from "./field_samples.ts";
import { openFieldShards } from "./open_field_shards.ts";
import { isCompressed } from "./shard_store.ts";
import { FieldTree } from "./field_tree.ts";

/**
 * Opens a dataset or a single shard.
 *
 * @param format Name of the format.
 * @param find Finds the shards.
 * @throws {FormatError} If the index is damaged, or every shard is missing, damaged or not supported.
 */
export function* openFieldContainer(
  format: string,
  find: FindShards,
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const found = yield* find(path, storage);
  const store = yield* openFieldShards(
    found,
    storage,
    options.remote?.cache,
  );
  try {
    const samples = new FieldSamples(store);
    const tree = new FieldTree(samples, true, options.lastNode);
    const { shards } = store;
    const compressed = shards.filter(isCompressed).length;
    const notes = store.notes();
    warnOfAll(noteLines(notes), options.onWarning);
    const { facts: odd, ...noted } = notedInfo(notes);
    return {
      tree,
      samples,
      info: {
        format,
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
