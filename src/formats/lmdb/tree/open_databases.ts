import { FormatError } from "../../../base/errors.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { openFile } from "../../../io/storage/open_file.ts";
import { shardDirectories } from "../../../io/storage/shard_paths.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { archiveInfo } from "../../../tree/archive/archive_info.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import { lostNotes, openSound } from "../../../tree/samples/open_shards.ts";
import { UnionTree } from "../../../tree/union_tree.ts";
import { LmdbSamples } from "../read/lmdb_samples.ts";
import { openIndex } from "../read/open_index.ts";
import { databasePaths } from "./database_paths.ts";
import { LmdbTree } from "./lmdb_tree.ts";

/** Opens a database, or several as one. Throws FormatError if nothing of it can be found. */
export function* openDatabases(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const { paths, areShards, names } = yield* databasePaths(path, storage);
  let databases = 0;
  const { sound: trees, lost } = yield* openSound(paths, function* (path) {
    const { tree, named } = yield* openTree(path, storage, options);
    databases += named;
    return tree;
  });
  const samples = new LmdbSamples(trees, storage, lost);
  const { shards } = samples;
  const notes = [...lostNotes(lost), ...trees.flatMap(({ notes }) => notes)];
  warnOfAll(noteLines(notes), options.onWarning);
  const directories = shardDirectories(names, /\.lmdb$/);
  const tree = areShards
    ? UnionTree.of(trees.map((tree) => {
      const at = paths.indexOf(tree.file.path);
      return { tree, path: [directories[at]!], name: tree.file.path };
    }))
    : trees[0]!;
  const info = archiveInfo(tree, trees, {
    format: "lmdb",
    kind: areShards ? "shards of values by key" : "values by key",
    facts: {
      values: shards.length,
      ...databases > 0 ? { databases } : {},
    },
    parts: shards.shards.map(({ path, size, columns }) => ({
      path,
      bytes: size,
      samples: columns.lengths.length,
    })),
  }, lostNotes(lost));
  return { tree, samples, info };
}

/** How often a database is opened that other programs write to meanwhile. */
const MOST_TRIES = 5;

/** Opens a database; again, if a program has written to it meanwhile. */
function* openTree(
  path: string,
  storage: Storage,
  options: ContainerOptions,
): Steps<{ readonly tree: LmdbTree; readonly named: number }> {
  const ext = nameSuffix(options.ext);
  for (let tries = 1;; tries++) {
    const source = yield* openFile(storage, path);
    try {
      const { file, index } = yield* openIndex(source, storage, ext, options);
      const tree = new LmdbTree(file, [source], index);
      return { tree, named: index.databases };
    } catch (error) {
      source.close();
      const isChanged = error instanceof FormatError &&
        error.code === "changed";
      if (!isChanged || tries === MOST_TRIES) throw error;
    }
  }
}
