import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import { reopenSource } from "../../io/storage/open_sources.ts";
import { storageInThread } from "../../io/storage/thread_storage.ts";
import type { Reading } from "../../tree/directory_tree.ts";
import { openedSources } from "../../tree/joined_sources.ts";
import type { NodeView } from "../../tree/node_view.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import {
  type EntryVisitor,
  type Extent,
  type NodeId,
  type NodeStat,
  reopenHandle,
  ROOT,
  type Tree,
  type TreeHandle,
} from "../../tree/tree.ts";
import { LONGEST_NAME } from "../../tree/names/name_table_builder.ts";
import { type LevelOptions, NestedLevel } from "./nested_level.ts";
import { NestedSources } from "./nested_sources.ts";
import type { NestedSlots } from "./nested_slots.ts";
import { holdLevel, OpenLevels } from "./open_levels.ts";
import { rootContent } from "./root_content.ts";

/** What a nested tree consists of, besides its outermost tree. Survives `postMessage`. */
export interface NestedSeed {
  /** Path of the outermost container or directory. */
  readonly path: string;
  readonly slots: NestedSlots;
  readonly options: LevelOptions;
  /** Largest id that a node may have. */
  readonly lastNode: NodeId;
  /** Number of the outermost tree's sources that are open from the start. */
  readonly openedCount: number;
  /** Maximum number of nested containers that are open. Defaults to 32. */
  readonly mostOpen?: number | undefined;
}

interface SharedSeed {
  readonly outer: TreeHandle;
  readonly opened: readonly KnownFile[];
  readonly seed: NestedSeed;
}

/**
 * A tree whose nested containers appear as directories, each opened when it is first listed or something below it is
 * looked up. See {@linkcode NestedLevel} for its ids.
 */
export class NestedTree implements Tree {
  readonly hasTimes = true;
  readonly sources: NestedSources;
  readonly #root: NestedLevel;
  readonly #seed: NestedSeed;
  readonly #open: OpenLevels;
  readonly #name = new Uint8Array(2 * LONGEST_NAME);
  // Result of `#find`.
  #local = 0;
  #slot = -1;
  #last: NestedLevel;
  // State of the listing in progress.
  #listed: NestedLevel;
  #visit: EntryVisitor | undefined;

  constructor(root: NestedLevel, seed: NestedSeed, reading: Reading) {
    this.#root = this.#last = this.#listed = root;
    this.#seed = seed;
    this.#open = new OpenLevels(seed.path, seed.options, seed.mostOpen);
    this.sources = new NestedSources(root, seed.openedCount, reading, {
      lend: (block) => this.#lend(block),
      peek: (block) => this.#open.peek(block),
      at: (block) => this.#levelOf(block),
    });
  }

  get nodeCount(): number {
    return this.#root.tree.nodeCount;
  }

  get lastNode(): NodeId {
    return this.#seed.lastNode;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const level = this.#find(parent, true);
    if (level === undefined) return 0;
    const local = this.#local;
    const node = level.tree.lookup(local, name, start, end);
    if (node !== 0 && level.cutAt(node) === 0) return level.nodeOf(node);
    return this.#lookupStripped(level, local, name, start, end);
  }

  parent(node: NodeId): NodeId {
    const level = this.#find(node, false);
    if (level === undefined) return ROOT;
    const local = this.#slot < 0 ? this.#local : level.slots.nodes[this.#slot]!;
    return level.nodeOf(level.tree.parent(local));
  }

  isDirectory(node: NodeId): boolean {
    const level = this.#find(node, false);
    if (level === undefined) return false;
    return this.#slot >= 0 || level.tree.isDirectory(this.#local);
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const level = this.#find(dir, true);
    if (level === undefined) return;
    const [listedBefore, visitBefore] = [this.#listed, this.#visit];
    this.#listed = level;
    this.#visit = visit;
    try {
      level.tree.list(this.#local, cursor, this.#translate);
    } finally {
      this.#listed = listedBefore; // nested: the visitor may list too
      this.#visit = visitBefore;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const level = this.#find(node, false);
    if (level === undefined) return false;
    if (this.#slot >= 0) return level.statSlot(this.#slot, into);
    into.isLink = false;
    return level.tree.stat(this.#local, into);
  }

  locate(node: NodeId, into: Extent): boolean {
    let level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return false;
    if (!level.tree.locate(this.#local, into)) return false;
    if (into.source < 0) return true;
    // A range of a range of the outermost container is one of that: it is mapped already.
    let contained = level.contained(into.source);
    while (contained !== undefined) {
      into.source = contained.index;
      into.offset += contained.start;
      level = level.parent!;
      contained = level.contained(into.source);
    }
    into.source = this.sources.indexOf(level, into.source);
    this.sources.remember(into.source);
    return true;
  }

  sampleOf(node: NodeId): number {
    const level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return -1;
    return level.tree.sampleOf?.(this.#local) ?? -1;
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const level = this.#find(node, false);
    if (level === undefined) return 0;
    if (this.#slot < 0) return level.tree.nameOf?.(this.#local, into) ?? 0;
    const slot = this.#slot;
    const length = level.tree.nameOf?.(level.slots.nodes[slot]!, into) ?? 0;
    return Math.max(0, length - level.slots.cuts[slot]!);
  }

  view(node: NodeId): NodeView | undefined {
    const level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return undefined;
    return level.tree.view?.(this.#local);
  }

  isLink(node: NodeId): boolean {
    const level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return false;
    return level.tree.isLink?.(this.#local) === true;
  }

  readLink(node: NodeId, into: Uint8Array, at: number): number {
    const level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return -1;
    return level.tree.readLink?.(this.#local, into, at) ?? -1;
  }

  target(node: NodeId): NodeId {
    const level = this.#find(node, false);
    if (level === undefined || this.#slot >= 0) return 0;
    return level.nodeOf(level.tree.target?.(this.#local) ?? 0);
  }

  share(): TreeHandle {
    const { tree } = this.#root;
    const { onWarning: _, remote, ...options } = this.#seed.options;
    const data: SharedSeed = {
      outer: tree.share(),
      opened: openedSources(tree.sources)
        .map(({ name: path, size, mtime }) => ({ path, size, mtime })),
      seed: {
        ...this.#seed,
        options: { ...options, remote: remote && withoutFunctions(remote) },
      },
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#open.close();
    this.#root.close();
  }

  readonly #translate: EntryVisitor = (name, start, end, node, next) => {
    const level = this.#listed;
    const shownEnd = end - level.cutAt(node);
    return this.#visit!(name, start, shownEnd, level.nodeOf(node), next);
  };

  #lookupStripped(
    level: NestedLevel,
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const { ends } = level.slots;
    const length = end - start;
    if (ends.length === 0 || length > LONGEST_NAME) return 0;
    const whole = this.#name;
    for (let i = 0; i < length; i++) whole[i] = name[start + i]!;
    for (const cut of ends) {
      whole.set(cut, length);
      const node = level.tree.lookup(parent, whole, 0, length + cut.length);
      if (node !== 0 && level.cutAt(node) === cut.length) {
        return level.nodeOf(node);
      }
    }
    return 0;
  }

  /**
   * Finds the level of a node, and sets `#local` to its id in that level's tree. If the node is the root of a nested
   * container and `enters` is not set, sets `#slot` to its number in the level that it is in, and opens nothing.
   */
  #find(node: NodeId, enters: boolean): NestedLevel | undefined {
    this.#slot = -1;
    const last = this.#last;
    const inLast = node - last.first;
    if (inLast > ROOT && inLast <= last.nodes && !last.isClosed) {
      this.#local = inLast;
      this.#open.touch(last);
      return last;
    }
    let level = this.#root;
    for (;;) {
      const local = node - level.first;
      if (!(local > 0)) return undefined;
      if (local <= level.nodes) {
        this.#local = local;
        this.#last = level;
        return level;
      }
      const { share, slots } = level;
      const slot = Math.floor((local - level.nodes - 1) / share);
      if (!(slot < slots.nodes.length)) return undefined;
      if (!enters && node === level.slotRoot(slot)) {
        this.#slot = slot;
        return level;
      }
      level = this.#open.enter(level, slot);
    }
  }

  /** Returns the level of a range of source indices; opens it if necessary. */
  #levelOf(block: number): NestedLevel {
    return this.#find(this.#open.rootOf(block), true)!;
  }

  /** Opens a level, and keeps it open until `end` is called. */
  *#lend(block: number): Steps<{ level: NestedLevel; end(): void }> {
    const level = yield* whenLoaded(() => this.#levelOf(block));
    holdLevel(level, 1);
    return { level, end: () => holdLevel(level, -1) };
  }
}

/** Callbacks cannot be sent to a thread. */
function withoutFunctions<T extends object>(options: T): T {
  const plain = Object.entries(options)
    .filter(([, value]) => typeof value !== "function");
  return Object.fromEntries(plain) as T;
}

export async function reopenTree(data: unknown): Promise<NestedTree> {
  const { outer, opened, seed } = data as SharedSeed;
  const tree = await reopenHandle(outer);
  const sources: ByteSource[] = [];
  try {
    for (const file of opened) {
      const storage = storageInThread(file.path);
      sources.push(await runAsync(reopenSource(storage, file)));
    }
    const storage = storageInThread(seed.path);
    const content = rootContent(tree, seed, storage, sources);
    const { lastNode: room } = seed;
    const root = new NestedLevel(content, { first: 0, room, block: 0 });
    return new NestedTree(root, seed, "mapped");
  } catch (error) {
    for (const source of sources) source.close();
    tree.close();
    throw error;
  }
}
