import { RecordfsError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import {
  closeLayers,
  LayeredStorage,
} from "../../io/storage/layered_storage.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import {
  type DirectoryListing,
  DirectoryTree,
  listDirectory,
} from "../../tree/directory_tree.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../tree/format.ts";
import { openedSources } from "../../tree/joined_sources.ts";
import {
  notedStorage,
  noteListing,
  withLayers,
} from "../../tree/trees/layered_tree.ts";
import type { Tree } from "../../tree/tree.ts";
import { UNION_IDS } from "../../tree/trees/union_columns.ts";
import { openOne } from "../find_format.ts";
import { reaching } from "../nested.ts";
import { isArchive, NestedLevel } from "./nested_level.ts";
import { isDataset, type NestedNames, nestedNames } from "./nested_names.ts";
import type { NestedOptions } from "./nested_names.ts";
import { findSlots } from "./nested_slots.ts";
import { type NestedSeed, NestedTree } from "./nested_tree.ts";
import { rootContent } from "./root_content.ts";

/**
 * Opens a container, or a plain directory, so that the containers in it appear as directories.
 *
 * @throws {FormatError} If a file is not a known container, or is damaged.
 * @throws {RecordfsError} If the location cannot be opened, or a suffix is none (`bad-option`).
 */
export function* openNested(
  path: string,
  options: ContainerOptions & NestedOptions,
  mostOpen?: number,
): Steps<Container> {
  const { nested, stripSuffix, listing, ...others } = options;
  const names = nestedNames({ nested, stripSuffix });
  const directory = yield* directoryAt(path, others, names, listing);
  if (directory !== undefined) {
    const { storage } = directory.sources;
    const { path } = directory.sources;
    const given = { ...others, storage, names, mostOpen };
    const shown = yield* nestIn(directory, path, given);
    noteListing(shown.sources, directory.listing);
    if (storage instanceof LayeredStorage) {
      withLayers(shown, storage, others.storage ?? LOCAL_DISK, path);
    }
    return { tree: shown, info: infoOf(directory) };
  }
  const { lastNode = UNION_IDS } = others;
  const container = yield* openOne(path, { ...others, lastNode });
  if (!isArchive(container)) return container;
  const { tree } = container;
  const storage = notedStorage(tree) ?? others.storage ?? LOCAL_DISK;
  const given = { ...others, storage, names, mostOpen };
  const shown = yield* nestIn(tree, path, given);
  return {
    tree: shown,
    get info() {
      return container.info;
    },
  };
}

/** Lists a plain directory; returns `undefined` for a file, a pattern, or a directory that is a dataset. */
function* directoryAt(
  path: string,
  options: ContainerOptions,
  names: NestedNames,
  listing: DirectoryListing | undefined,
): Steps<DirectoryTree | undefined> {
  if (options.format !== undefined) return undefined;
  const { storage: given = LOCAL_DISK, onWarning = warnOnConsole } = options;
  const { storage } = yield* reaching(
    path,
    options,
    (outer, options) => openOne(outer, options),
  );
  let directory: DirectoryTree | undefined;
  try {
    if (listing !== undefined) {
      return directory = new DirectoryTree(listing, storage, "late");
    }
    const listed = yield* listedAt(path, storage);
    if (listed === undefined) return undefined;
    const namesIn = (name: string) => storage.list(`${path}/${name}`);
    if (yield* isDataset(listed, namesIn, names)) return undefined;
    return directory = yield* listDirectory(path, storage, onWarning);
  } finally {
    if (directory === undefined) closeLayers(storage, given);
  }
}

/** Returns the names in a directory; `undefined` if there is none at the path, which opening it explains. */
function* listedAt(
  path: string,
  storage: Storage,
): Steps<readonly string[] | undefined> {
  try {
    return yield* storage.list(path);
  } catch (error) {
    const isRefused = error instanceof RecordfsError &&
      error.code !== "must-wait";
    if (isRefused) return undefined;
    throw error;
  }
}

function* nestIn(
  tree: Tree,
  path: string,
  { storage, mostOpen, ...given }:
    & ContainerOptions
    & Pick<NestedSeed, "mostOpen">
    & { readonly storage: Storage; readonly names: NestedNames },
): Steps<NestedTree> {
  try {
    const { lastNode = UNION_IDS, format: _, ...options } = given;
    const slots = yield* findSlots(tree, options.names);
    const openedCount = openedSources(tree.sources).length;
    const seed = { path, slots, options, lastNode, openedCount, mostOpen };
    const content = rootContent(tree, seed, storage);
    const place = { first: 0, room: lastNode, block: 0 };
    return new NestedTree(new NestedLevel(content, place), seed, "late");
  } catch (error) {
    tree.close();
    throw error;
  }
}

function infoOf(directory: DirectoryTree): ContainerInfo {
  const { nodeCount, fileCount, sources } = directory;
  return {
    format: "directory",
    kind: "files",
    files: fileCount,
    directories: nodeCount - fileCount - 1,
    bytes: sources.knownBytes,
    parts: [],
  };
}
