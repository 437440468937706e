import {
  closeWithLayers,
  type LayeredStorage,
  type LayerHandle,
  layersOf,
} from "../../io/storage/layered_storage.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { reachLayers } from "../../io/storage/thread_storage.ts";
import type { DirectoryListing } from "../directory_tree.ts";
import { reopenHandle, type Tree, type TreeHandle } from "../tree.ts";

/** Storages that trees of this thread were opened from. */
const openedFrom = new WeakMap<Tree, Storage>();

/** Notes the storage that a tree was opened from. */
export function noteStorage(tree: Tree, storage: Storage): void {
  openedFrom.set(tree, storage);
}

/** Returns the storage that a tree was opened from, if it is known. */
export function notedStorage(tree: Tree): Storage | undefined {
  return openedFrom.get(tree);
}

/** Listings of the directories that trees of this thread show, by the sources of these. */
const listings = new WeakMap<Tree["sources"], DirectoryListing>();

/** Notes the listing of a directory, for other threads that open it in the same storage. */
export function noteListing(
  sources: Tree["sources"],
  listing: DirectoryListing,
): void {
  listings.set(sources, listing);
}

/** Returns the listing of the directory that a tree shows, if it shows one. */
export function notedListing({ sources }: Tree): DirectoryListing | undefined {
  return listings.get(sources);
}

interface Seed {
  readonly layers: readonly LayerHandle[];
  readonly path: string;
  readonly inner: TreeHandle;
}

/**
 * Makes a tree that was opened through layers known to other threads together with them, and closes them with it.
 *
 * @param below Storage whose own layers, if any, others close.
 * @param path Path of its container.
 */
export function withLayers(
  tree: Tree,
  storage: LayeredStorage,
  below: Storage,
  path: string,
): void {
  closeWithLayers(tree, storage, below);
  const share = tree.share.bind(tree);
  tree.share = () => {
    const data: Seed = { layers: layersOf(storage), path, inner: share() };
    return { module: import.meta.url, data };
  };
}

export async function reopenTree(data: unknown): Promise<Tree> {
  const { layers, path, inner } = data as Seed;
  const leave = await reachLayers(layers, path);
  try {
    const tree = await reopenHandle(inner);
    const close = tree.close.bind(tree);
    tree.close = () => {
      close();
      leave();
    };
    return tree;
  } catch (error) {
    leave();
    throw error;
  }
}
