import { FormatError, RecordfsError } from "../../base/errors.ts";
import { formats } from "../../formats/registry.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { changedFile } from "../../io/storage/changed_file.ts";
import { INSIDE } from "../../io/storage/chained_path.ts";
import { depthOf } from "../../io/storage/layered_storage.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { isAsListed } from "../../tree/directory_tree.ts";
import type { Container, ContainerOptions } from "../../tree/format.ts";
import { openedSources } from "../../tree/joined_sources.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { Poolable } from "../../tree/open_pool.ts";
import {
  newStat,
  type NodeId,
  type NodeStat,
  ROOT,
  type Tree,
} from "../../tree/tree.ts";
import { MOST_LAYERS } from "../compressed.ts";
import { openOne } from "../find_format.ts";
import { tooDeep } from "../nested.ts";
import { ContainedSource, TreeStorage } from "../tree_storage.ts";
import type { NestedNames } from "./nested_names.ts";
import {
  findSlots,
  type NestedSlots,
  NO_SLOTS,
  slotOf,
  slotPath,
} from "./nested_slots.ts";

/** Where a level belongs. */
export interface LevelPlace {
  /** Level that it is nested in; absent for the outermost one. */
  readonly parent?: NestedLevel;
  /** Number added to the ids of its tree. */
  readonly first: NodeId;
  /** Ids that the level and those nested in it have together. */
  readonly room: number;
  /** Number of its range of source indices; 0 for the outermost level. */
  readonly block: number;
}

/** Tree of a level, its nested containers, and the storage that has these as files. */
export interface LevelContent {
  readonly path: string;
  readonly tree: Tree;
  readonly slots: NestedSlots;
  readonly storage: Storage;
  /** Returns the path in that storage of a path in the tree. */
  readonly pathOf: (path: string) => string;
  /** Closes all of it. */
  readonly close: () => void;
}

/**
 * An open container with those nested in it.
 *
 * Node ids: those of its tree come first, plus `first`; then an equal share for each nested container, so that ids are the
 * same in all threads and in a server that takes over.
 */
export class NestedLevel implements Poolable {
  readonly tree: Tree;
  readonly slots: NestedSlots;
  readonly parent: NestedLevel | undefined;
  readonly first: NodeId;
  readonly block: number;
  /** Number of ids of the tree. */
  readonly nodes: number;
  /** Ids of each nested container. */
  readonly share: number;
  used = 0;
  users = 0;
  isClosed = false;
  readonly #content: LevelContent;
  /** By index among the tree's sources: those that are ranges of a source of the parent. */
  readonly #contained: readonly (ContainedSource | undefined)[];
  readonly #stat = newStat();

  constructor(content: LevelContent, place: LevelPlace) {
    const { tree, slots } = content;
    const { parent, first, room, block } = place;
    this.#content = content;
    this.tree = tree;
    this.slots = slots;
    this.parent = parent;
    this.first = first;
    this.block = block;
    this.nodes = tree.lastNode ?? tree.nodeCount;
    const count = slots.nodes.length;
    this.share = count === 0 ? 0 : Math.floor((room - this.nodes) / count);
    this.#contained = parent === undefined
      ? []
      : containedIn(parent, openedSources(tree.sources));
  }

  /** Path of the container or directory. */
  get path(): string {
    return this.#content.path;
  }

  /** Storage that has the nested containers as files. */
  get storage(): Storage {
    return this.#content.storage;
  }

  /** Returns a node of the tree as a node of the whole. */
  nodeOf(local: NodeId): NodeId {
    if (local === 0) return 0;
    const slot = slotOf(this.slots, local);
    return slot < 0 ? this.first + local : this.slotRoot(slot);
  }

  /** Returns the id of the root of a nested container. */
  slotRoot(slot: number): NodeId {
    return this.first + this.nodes + slot * this.share + ROOT;
  }

  /** Returns the number of bytes that the shown name of a node of the tree lacks at the end. */
  cutAt(local: NodeId): number {
    if (this.slots.ends.length === 0) return 0;
    const slot = slotOf(this.slots, local);
    return slot < 0 ? 0 : this.slots.cuts[slot]!;
  }

  /** Returns the path of a nested container in {@linkcode NestedLevel.storage}. */
  slotPath(slot: number): string {
    return this.#content.pathOf(slotPath(this.slots, slot));
  }

  /** Reads the metadata of a nested container as a directory, without opening it. */
  statSlot(slot: number, into: NodeStat): boolean {
    const exists = this.tree.stat(this.slots.nodes[slot]!, into);
    into.isDirectory = true;
    into.isLink = false;
    into.size = 0;
    return exists;
  }

  /** Returns what an index of a source of the tree is a range of, if it is one of the parent's. */
  contained(source: number): ContainedSource | undefined {
    return this.#contained[source];
  }

  /** Opens a nested container. */
  *openSlot(
    slot: number,
    block: number,
    options: LevelOptions,
  ): Steps<NestedLevel> {
    const path = this.slotPath(slot);
    const { storage } = this;
    if (depthOf(storage) >= MOST_LAYERS) throw tooDeep(path);
    yield* this.#requireUnchanged(slot, path);
    const { names, ...others } = options;
    const room = this.share;
    const given = { ...others, storage, lastNode: room };
    const container = yield* opening(path, openOne(path, given));
    const { tree } = container;
    const inner = new TreeStorage(storage, path, tree, options, false);
    const close = () => {
      inner.close();
      tree.close();
    };
    try {
      if ((tree.lastNode ?? tree.nodeCount) > room) throw tooLarge(path, room);
      const slots = isArchive(container)
        ? yield* findSlots(tree, names)
        : NO_SLOTS;
      const first = this.slotRoot(slot) - ROOT;
      const pathOf = (below: string) => `${path}${INSIDE}${below}`;
      return new NestedLevel(
        { path, tree, slots, storage: inner, pathOf, close },
        { parent: this, first, room, block },
      );
    } catch (error) {
      close();
      throw error;
    }
  }

  close(): void {
    this.isClosed = true;
    this.#content.close();
  }

  *#requireUnchanged(slot: number, path: string): Steps<void> {
    const stat = this.#stat;
    const node = this.slots.nodes[slot]!;
    yield* whenLoaded(() => this.tree.stat(node, stat));
    const { isDirectory, size, mtime } = stat;
    const now = yield* this.storage.stat(path);
    const isSame = now !== undefined && now.isDirectory === isDirectory &&
      (isDirectory || isAsListed(now, { size, mtime }, this.storage));
    if (!isSame) throw changedFile(path, size, now?.size);
  }
}

/** Options that nested containers are opened with. */
export interface LevelOptions
  extends Omit<ContainerOptions, "format" | "lastNode" | "storage"> {
  readonly names: NestedNames;
}

/** Makes an error of the system about one container a fault of that: a walk continues after it. */
function* opening<T>(path: string, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (cause) {
    const isOwn = cause instanceof RecordfsError &&
      REFUSALS.includes(cause.code);
    if (!isOwn) throw cause;
    throw new FormatError("missing-data", cause.message, { path, cause });
  }
}

/** Why the system does not open one file, whatever it does with others. */
const REFUSALS = ["EACCES", "ELOOP", "ENOENT", "EPERM", "not-a-file"];

/** Whether a container holds files of any name, and knows their number. */
export function isArchive({ tree, info }: Container): boolean {
  return tree.lastNode === undefined &&
    formats().some(({ name, isArchive }) => isArchive && name === info.format);
}

function containedIn(
  parent: NestedLevel,
  sources: readonly ByteSource[],
): readonly (ContainedSource | undefined)[] {
  const isOwn = parent.storage instanceof TreeStorage;
  return sources.map((source) =>
    isOwn && source instanceof ContainedSource ? source : undefined
  );
}

function tooLarge(path: string, room: number): FormatError {
  return new FormatError(
    "too-large",
    `Cannot show ${path} in its place: too few inode numbers are left for its files and directories. Open it by itself`,
    { path, expected: room },
  );
}
