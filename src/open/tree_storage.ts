import { RecordfsError } from "../base/errors.ts";
import { decodeName } from "../base/names.ts";
import { runAsync, type Steps } from "../io/concurrency/steps.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import {
  baseOf,
  LayeredStorage,
  type LayerHandle,
} from "../io/storage/layered_storage.ts";
import { isMade } from "../io/storage/made_source.ts";
import { MemorySource } from "../io/storage/memory_source.ts";
import {
  type FileFacts,
  noSuchFile,
  type OpenFileOptions,
  type Storage,
} from "../io/storage/storage.ts";
import { INSIDE } from "../io/storage/chained_path.ts";
import type { KnownFile } from "../io/storage/changed_file.ts";
import { reopenSource } from "../io/storage/open_sources.ts";
import { PartSource } from "../io/storage/part_source.ts";
import { storageInThread } from "../io/storage/thread_storage.ts";
import type { ContainerOptions } from "../tree/format.ts";
import { statFile } from "../tree/file_links.ts";
import { openedSources } from "../tree/joined_sources.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import {
  newExtent,
  newStat,
  type NodeId,
  reopenHandle,
  type Tree,
  type TreeHandle,
} from "../tree/tree.ts";
import { findNode } from "../tree/vfs/paths.ts";

/** Options of an outer container that other threads open it with, too. */
export type OuterOptions = Pick<ContainerOptions, "maxRatio" | "remote">;

interface Seed {
  readonly outer: string;
  readonly options: OuterOptions;
  readonly handle: TreeHandle;
  /** Sources of the tree that are open from the start, which its handle does not open. */
  readonly opened: readonly KnownFile[];
}

/**
 * The files of a container as a storage: `OUTER!/PATH` is the file at PATH in the container at OUTER. All other paths are
 * those of the storage that the container lies in.
 */
export class TreeStorage extends LayeredStorage {
  readonly outer: string;
  readonly #tree: Tree;
  readonly #options: OuterOptions;
  readonly #isOwned: boolean;
  readonly #opened: readonly ByteSource[];

  /**
   * @param outer Path of the container in `base`.
   * @param isOwned Whether the tree is closed with the storage.
   * @param opened Sources of a tree of another thread that are open from the start, closed with the storage.
   */
  constructor(
    base: Storage,
    outer: string,
    tree: Tree,
    options: OuterOptions = {},
    isOwned = true,
    opened: readonly ByteSource[] = [],
  ) {
    super(base);
    this.outer = outer;
    this.#tree = tree;
    this.#options = options;
    this.#isOwned = isOwned;
    this.#opened = opened;
  }

  has(path: string): boolean {
    return this.#pathIn(path) !== undefined;
  }

  /** Opens a file. Its bytes are those of the container, which stays open. */
  *open(path: string, options?: OpenFileOptions): Steps<ByteSource> {
    const inside = this.#pathIn(path);
    if (inside === undefined) return yield* this.base.open(path, options);
    const tree = this.#tree;
    const node = yield* findNode(tree, inside);
    if (node === 0) throw noSuchFile(path);
    const extent = newExtent();
    const isFile = yield* whenLoaded(() => tree.locate(node, extent));
    if (!isFile) {
      throw new RecordfsError(
        "not-a-file",
        `Cannot open ${path}: it is not a regular file`,
        { path },
      );
    }
    const mtime = yield* this.#mtimeOf(node);
    if (extent.bytes !== undefined) {
      return new MemorySource(extent.bytes, path, mtime);
    }
    const { source: index, offset, length } = extent;
    const own = this.#sourceAt(index);
    const isOrigin = !isMade(own) || own.origin !== undefined;
    const [first = own] = this.#openedSources;
    return new ContainedSource(() => this.#sourceAt(index), {
      name: path,
      index,
      start: offset,
      size: length,
      mtime,
      origin: isOrigin ? own : first,
    });
  }

  *list(path: string): Steps<readonly string[] | undefined> {
    const inside = this.#pathIn(path);
    if (inside === undefined) return yield* this.base.list(path);
    const tree = this.#tree;
    const node = yield* findNode(tree, inside);
    if (node === 0) throw noSuchFile(path);
    if (!tree.isDirectory(node)) return undefined;
    const names: string[] = [];
    let cursor = 0;
    // Continues where it stopped to load a part of the index.
    yield* whenLoaded(() =>
      tree.list(node, cursor, (name, start, end, _node, next) => {
        names.push(decodeName(name, start, end));
        cursor = next;
        return true;
      })
    );
    return names;
  }

  *stat(path: string): Steps<FileFacts | undefined> {
    const inside = this.#pathIn(path);
    if (inside === undefined) return yield* this.base.stat(path);
    const tree = this.#tree;
    const node = yield* findNode(tree, inside);
    if (node === 0) return undefined;
    const stat = newStat();
    yield* whenLoaded(() => statFile(tree, node, stat));
    const { isDirectory, size, mtime } = stat;
    return { isDirectory, size: isDirectory ? 0 : size, mtime, id: node };
  }

  share(): LayerHandle {
    const data: Seed = {
      outer: this.outer,
      options: this.#options,
      handle: this.#tree.share(),
      opened: this.#openedSources.map(({ name: path, size, mtime }) => ({
        path,
        size,
        mtime,
      })),
    };
    return { module: import.meta.url, data };
  }

  override close(): void {
    if (this.#isOwned) this.#tree.close();
    for (const source of this.#opened) source.close();
  }

  get #openedSources(): readonly ByteSource[] {
    return this.#opened.length > 0
      ? this.#opened
      : openedSources(this.#tree.sources);
  }

  /** Called for each read, because the tree may close what was not used lately. */
  #sourceAt(index: number): ByteSource {
    return this.#opened[index] ?? this.#tree.sources.at(index)!;
  }

  /** Returns the path in the container; `undefined` if the path does not lead there. */
  #pathIn(path: string): string | undefined {
    const start = `${this.outer}${INSIDE}`;
    return path.startsWith(start) ? path.slice(start.length) : undefined;
  }

  *#mtimeOf(node: NodeId): Steps<number> {
    const stat = newStat();
    yield* whenLoaded(() => this.#tree.stat(node, stat));
    return stat.mtime;
  }
}

/** Opens the outer container in another thread. */
export async function reopenLayer(
  data: unknown,
  base: Storage,
): Promise<TreeStorage> {
  const { outer, options, handle, opened } = data as Seed;
  if (baseOf(base) !== baseOf(storageInThread(outer))) {
    const tree = await openAgain(outer, base, options);
    return new TreeStorage(base, outer, tree, options);
  }
  // The tables of the thread that opened it are shared, because its files are reached in the same way.
  const tree = await reopenHandle(handle);
  const sources: ByteSource[] = [];
  for (const file of opened) {
    const storage = storageInThread(file.path);
    sources.push(await runAsync(reopenSource(storage, file)));
  }
  return new TreeStorage(base, outer, tree, options, true, sources);
}

async function openAgain(
  outer: string,
  storage: Storage,
  options: OuterOptions,
): Promise<Tree> {
  const { openOne } = await import("./find_format.ts");
  const opening = openOne(outer, { ...options, storage, onWarning() {} });
  return (await runAsync(opening)).tree;
}

/** A file of a container. */
export class ContainedSource extends PartSource {
  /** Index of the source among those of the container's tree. */
  readonly index: number;

  /** @param source Returns the source that the file is a part of; the container closes it. */
  constructor(
    source: () => ByteSource,
    { index, ...part }: Pick<
      ContainedSource,
      "index" | "mtime" | "name" | "origin" | "size" | "start"
    >,
  ) {
    super(source, part);
    this.index = index;
  }
}
