import { warnOfAll } from "../../base/message_text.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { directoriesOf } from "../../io/storage/shards/shard_directories.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { archiveInfo } from "../archive/archive_info.ts";
import { noteLines } from "../archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../format.ts";
import { lostNotes, openSound } from "../samples/open_shards.ts";
import { UnionTree } from "../trees/union_tree.ts";
import { type KeyedFormat, openStore } from "./keyed_index.ts";
import type { StorePaths } from "./store_paths.ts";
import { KeyedSamples } from "./keyed_samples.ts";

/** Stores that are shown as one container. */
export interface KeyedStores extends StorePaths {
  /** Name of the format. */
  readonly format: string;
  /** Suffix of the names, which directories do not have. */
  readonly suffix: string;
  /** Reads how a file is indexed. */
  look(source: ByteSource): Steps<KeyedFormat>;
}

/** Opens key-value stores as one container. Damaged ones are skipped, unless all are. */
export function* openKeyed(
  { format, paths, names, suffix, look }: KeyedStores,
  storage: Storage,
  options: ContainerOptions,
): Steps<Container> {
  const open = (path: string) => openStore(path, storage, options, look);
  const { sound, lost } = yield* openSound(paths, open);
  const trees = sound.map(({ tree }) => tree);
  try {
    const samples = new KeyedSamples(trees, storage, lost);
    const notes = [...lostNotes(lost), ...trees.flatMap(({ notes }) => notes)];
    warnOfAll(noteLines(notes), options.onWarning);
    const directories = names && directoriesOf(names, suffix);
    const placed = trees.map((tree) => {
      const { path: name } = tree.file;
      const path = directories?.[paths.indexOf(name)] ?? [];
      return { tree, path, name };
    });
    const tree = names === undefined ? trees[0]! : UnionTree.of(placed);
    const databases = sound.reduce(
      (sum, { index }) => sum + index.databases,
      0,
    );
    const values = samples.shards.length;
    const info = archiveInfo(tree, trees, {
      format,
      kind: names === undefined ? "values by key" : "shards of values by key",
      facts: databases > 0 ? { values, databases } : { values },
      parts: samples.shards.shards.map(({ path, size, columns }) => {
        return { path, bytes: size, samples: columns.lengths.length };
      }),
    }, lostNotes(lost));
    return { tree, samples, info };
  } catch (error) {
    for (const tree of trees) tree.close();
    throw error;
  }
}
