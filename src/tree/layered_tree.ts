import {
  closeWithLayers,
  type LayeredStorage,
  type LayerHandle,
  layersOf,
} from "../io/storage/layered_storage.ts";
import type { Storage } from "../io/storage/storage.ts";
import { reachLayers } from "../io/storage/thread_storage.ts";
import { reopenHandle, type Tree, type TreeHandle } from "./tree.ts";

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
