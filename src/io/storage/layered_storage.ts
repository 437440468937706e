import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";
import {
  type FileFacts,
  LOCAL_DISK,
  type OpenFileOptions,
  type Storage,
} from "./storage.ts";

/** Data from which another thread rebuilds a layered storage. It survives `postMessage`. */
export interface LayerHandle {
  /** URL of the module that exports `reopenLayer(data, base): LayeredStorage | Promise<LayeredStorage>`. */
  readonly module: string;
  readonly data: unknown;
}

/** A storage whose files are made of those of another one: decompressed, or taken out of a container. */
export abstract class LayeredStorage implements Storage {
  /** The storage of the files that these are made of. */
  readonly base: Storage;

  constructor(base: Storage) {
    this.base = base;
  }

  /** Whether a path belongs to this layer; other threads find the layer of a path by that. */
  abstract has(path: string): boolean;

  /** Returns the path of a file, without suffixes that do not hold for what is read: `x.tar` for `x.tar.gz`. */
  nameOf(path: string): string {
    return path;
  }

  /** Returns the path of a file in {@linkcode LayeredStorage.base}: `x.tar.gz` for `x.tar`. */
  storedPath(path: string): string {
    return path;
  }

  /** Returns the data from which another thread rebuilds the layer, over its own `base`. */
  abstract share(): LayerHandle;

  /** Verifies what was assumed of files, so that they could be read sooner. Throws if it was wrong. */
  *settle(): Steps<void> {}

  /** Closes what the layer itself has opened. */
  close(): void {}

  abstract open(path: string, options?: OpenFileOptions): Steps<ByteSource>;

  abstract list(path: string): Steps<readonly string[] | undefined>;

  abstract stat(path: string): Steps<FileFacts | undefined>;
}

/** Returns a path as {@linkcode LayeredStorage.nameOf} does, in any storage. */
export function nameIn(storage: Storage, path: string): string {
  return storage instanceof LayeredStorage ? storage.nameOf(path) : path;
}

/** Returns a path as it exists below the layers that rename files, for messages and descriptions. */
export function storedIn(storage: Storage, path: string): string {
  let stored = path;
  for (let at = storage; at instanceof LayeredStorage; at = at.base) {
    stored = at.storedPath(stored);
  }
  return stored;
}

/** Settles all layers of a storage. */
export function* settleLayers(storage: Storage): Steps<void> {
  for (let base = storage; base instanceof LayeredStorage; base = base.base) {
    yield* base.settle();
  }
}

/** Closes the layers of a storage above another one. */
export function closeLayers(storage: Storage, below: Storage): void {
  let layer = storage;
  while (layer !== below && layer instanceof LayeredStorage) {
    layer.close();
    layer = layer.base;
  }
}

/** Makes something that is read through layers close those above `below` after itself. */
export function closeWithLayers(
  opened: { close(): void },
  storage: Storage,
  below: Storage,
): void {
  const close = opened.close.bind(opened);
  opened.close = () => {
    close();
    closeLayers(storage, below);
  };
}

/** Returns the storage below all layers. */
export function baseOf(storage: Storage): Storage {
  let base = storage;
  while (base instanceof LayeredStorage) base = base.base;
  return base;
}

/** Number of layers of a storage. */
export function depthOf(storage: Storage): number {
  let depth = 0;
  for (let base = storage; base instanceof LayeredStorage; base = base.base) {
    depth++;
  }
  return depth;
}

/** Returns the handles of a storage's layers, the lowest first. */
export function layersOf(storage: Storage): LayerHandle[] {
  const handles: LayerHandle[] = [];
  for (let base = storage; base instanceof LayeredStorage; base = base.base) {
    handles.unshift(base.share());
  }
  return handles;
}

/** Rebuilds layers over a storage of this thread, and calls `onLayer` with each. */
export async function reopenLayers(
  handles: readonly LayerHandle[],
  base: Storage = LOCAL_DISK,
  onLayer: (layer: LayeredStorage) => void = () => {},
): Promise<Storage> {
  let storage = base;
  for (const { module, data } of handles) {
    const { reopenLayer }: {
      reopenLayer(
        data: unknown,
        base: Storage,
      ): LayeredStorage | Promise<LayeredStorage>;
    } = await import(module);
    const layer = await reopenLayer(data, storage);
    onLayer(layer);
    storage = layer;
  }
  return storage;
}
