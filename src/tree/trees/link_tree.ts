import { RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { LinkPath } from "./link_path.ts";
import { LinkTargets, type LinkTargetsData } from "./link_targets.ts";
import { LONGEST_NAME } from "../names/name_table_builder.ts";
import { NumberedNames } from "../names/numbered_names.ts";
import { whenLoaded } from "../not_loaded.ts";
import type { EntryVisitor, Extent, NodeId, NodeStat, Tree } from "../tree.ts";
import { newStat, placeBytes, reopenHandle, ROOT } from "../tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";
import { utf8Text } from "../../base/utf8.ts";

/** Ids reserved beyond the last sample of a container without an id limit, for its other nodes. */
const LEFT_IDS = 2 ** 32;

/** Minimum digits of an epoch's and of a link's name. */
const EPOCH_DIGITS = 4;
const LINK_DIGITS = 8;

const EPOCH_PREFIX = new TextEncoder().encode("epoch-");

/**
 * Adds to a tree's root a directory of symbolic links for each epoch: `epoch-0000/00000000.jpg` leads to
 * `../train/cat/001.jpg`. Link names sort in the order in which the epoch reads the samples. If a sample has several
 * files, each has a link of the same number.
 *
 * Node ids: each epoch's directory, then its links in order; the last link has the largest id there is. Each sample
 * takes as many ids as the sample with the most files, so some ids are unused. Names and targets of links are computed
 * on demand.
 */
export class LinkTree extends WrappedTree<LinkTargetsData> {
  readonly #targets: LinkTargets;
  readonly #mtime: number;
  readonly #path: LinkPath;
  /** Link whose target is in `#path`. */
  #resolved: NodeId = 0;
  readonly #linkNames: NumberedNames;
  readonly #epochNames = new NumberedNames(EPOCH_DIGITS, "");
  readonly #name: Uint8Array;
  readonly #width: number;
  /** Nodes per epoch: its directory and its links. */
  readonly #stride: number;
  /** Node of the first epoch; all smaller ids belong to the inner tree. */
  readonly #first: NodeId;

  private constructor(inner: Tree, targets: LinkTargets, mtime: number) {
    super(inner, targets.data, import.meta.url);
    const { length } = targets;
    this.#targets = targets;
    this.#mtime = mtime;
    this.#path = new LinkPath(inner, targets.parts > 1);
    this.#name = new Uint8Array(targets.parts > 1 ? 64 + LONGEST_NAME : 64);
    const digits = String(Math.max(length - 1, 0)).length;
    this.#width = Math.max(digits, LINK_DIGITS);
    this.#linkNames = new NumberedNames(this.#width, "");
    this.#stride = length * targets.parts + 1;
    const nodes = this.#stride * targets.data.epochs;
    this.#first = Number.MAX_SAFE_INTEGER + 1 - nodes;
  }

  /**
   * Adds links to a tree, which the new tree owns from then on.
   *
   * @throws {RecordfsError} If the tree's root has an entry with an epoch's name, or the ids do not suffice for the
   *   links.
   */
  static async of(inner: Tree, data: LinkTargetsData): Promise<LinkTree> {
    const tree = await LinkTree.reopen(inner, data);
    const { length, largestNode } = tree.#targets;
    const used = inner.lastNode ??
      Math.max(inner.nodeCount, largestNode) + LEFT_IDS;
    if (tree.#first < used) {
      throw new RecordfsError(
        "too-many",
        `Cannot show links to ${length} samples in each epoch: there are ` +
          "too few inode numbers. Show fewer epochs",
      );
    }
    const name = tree.#name;
    for (let epoch = 0; epoch < data.epochs; epoch++) {
      const end = tree.#writeEpochName(epoch);
      const find = () => inner.lookup(ROOT, name, 0, end);
      if (await runAsync(whenLoaded(find)) === 0) continue;
      const taken = utf8Text(name.subarray(0, end));
      throw new RecordfsError(
        "name-taken",
        "Cannot show the links of that epoch: the container has an entry " +
          `'${taken}' in its root, where they would be. Show another epoch`,
      );
    }
    return tree;
  }

  static async reopen(inner: Tree, data: LinkTargetsData): Promise<LinkTree> {
    const root = newStat();
    await runAsync(whenLoaded(() => inner.stat(ROOT, root)));
    return new LinkTree(inner, await LinkTargets.load(data), root.mtime);
  }

  /** Links have the largest ids there are. They are not counted, since no memory is allocated per link. */
  override get lastNode(): undefined {
    return undefined;
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent >= this.#first) {
      return this.#lookupLink(parent, name, start, end);
    }
    if (parent === ROOT) {
      const epoch = this.#parseEpoch(name, start, end);
      if (epoch >= 0) return this.#first + epoch * this.#stride;
    }
    return this.inner.lookup(parent, name, start, end);
  }

  override parent(node: NodeId): NodeId {
    if (node < this.#first) return this.inner.parent(node);
    const link = (node - this.#first) % this.#stride;
    return link === 0 ? ROOT : node - link;
  }

  override isDirectory(node: NodeId): boolean {
    if (node < this.#first) return this.inner.isDirectory(node);
    return (node - this.#first) % this.#stride === 0;
  }

  isLink(node: NodeId): boolean {
    return node < this.#first
      ? this.inner.isLink?.(node) === true
      : !this.isDirectory(node) && this.#isThere(node);
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir >= this.#first) return this.#listLinks(dir, cursor, visit);
    if (dir !== ROOT) return this.inner.list(dir, cursor, visit);
    const { epochs } = this.seed;
    for (let epoch = cursor; epoch < epochs; epoch++) {
      const end = this.#writeEpochName(epoch);
      const node = this.#first + epoch * this.#stride;
      if (!visit(this.#name, 0, end, node, epoch + 1)) return;
    }
    return this.inner.list(
      ROOT,
      Math.max(cursor - epochs, 0),
      (name, start, end, node, next) =>
        visit(name, start, end, node, next + epochs),
    );
  }

  override stat(node: NodeId, into: NodeStat): boolean {
    into.isLink = false;
    if (node < this.#first) return this.inner.stat(node, into);
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    into.size = 0;
    if (into.isDirectory) return true;
    if (!this.#isThere(node)) return false;
    this.#resolve(node);
    into.isLink = true;
    into.size = this.#path.length;
    return true;
  }

  override locate(node: NodeId, into: Extent): boolean {
    if (node < this.#first) return this.inner.locate(node, into);
    if (!this.isLink(node)) return false;
    this.#resolve(node);
    const { bytes, start } = this.#path;
    placeBytes(bytes.slice(start), into);
    return true;
  }

  readLink(node: NodeId, into: Uint8Array, at: number): number {
    if (node < this.#first) return this.inner.readLink?.(node, into, at) ?? -1;
    if (!this.isLink(node)) return -1;
    this.#resolve(node);
    const { bytes, start, length } = this.#path;
    for (let i = 0; i < length; i++) into[at + i] = bytes[start + i]!;
    return length;
  }

  target(node: NodeId): NodeId {
    if (node < this.#first) return this.inner.target?.(node) ?? 0;
    return this.isLink(node) ? this.#targetOf(node) : 0;
  }

  #resolve(link: NodeId): void {
    if (link === this.#resolved) return;
    this.#resolved = 0;
    this.#path.write(this.#targetOf(link));
    this.#resolved = link;
  }

  #targetOf(link: NodeId): NodeId {
    const slot = this.#slotOf(link);
    const { parts } = this.#targets;
    const position = Math.floor(slot / parts);
    return this.#targets.node(this.#epochOf(link), position, slot % parts);
  }

  /** Whether a link id is in use: its sample may have fewer files than others. */
  #isThere(link: NodeId): boolean {
    const slot = this.#slotOf(link);
    const { parts } = this.#targets;
    const part = slot % parts;
    const position = Math.floor(slot / parts);
    return this.#targets.hasPart(this.#epochOf(link), position, part);
  }

  /** Returns the index of a link in its epoch, unused ids included. */
  #slotOf(link: NodeId): number {
    return (link - this.#first) % this.#stride - 1;
  }

  #epochOf(link: NodeId): number {
    return Math.floor((link - this.#first) / this.#stride);
  }

  #listLinks(epoch: NodeId, cursor: number, visit: EntryVisitor): void {
    if (!this.isDirectory(epoch)) return;
    const { length, parts } = this.#targets;
    for (let slot = cursor; slot < length * parts; slot++) {
      const link = epoch + 1 + slot;
      if (!this.#isThere(link)) continue;
      const end = this.#writeLinkName(link, Math.floor(slot / parts));
      if (!visit(this.#name, 0, end, link, slot + 1)) return;
    }
  }

  #lookupLink(
    epoch: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (!this.isDirectory(epoch) || end - start > this.#name.length) return 0;
    const digits = Math.min(start + this.#width, end);
    const position = this.#linkNames.parse(name, start, digits);
    if (position < 0 || position >= this.#targets.length) return 0;
    const { parts } = this.#targets;
    const first = epoch + 1 + position * parts;
    for (let link = first; link < first + parts; link++) {
      if (!this.#isThere(link)) break;
      const length = this.#writeLinkName(link, position);
      if (length === end - start && this.#isName(name, start, length)) {
        return link;
      }
    }
    return 0;
  }

  /** Whether a name has the suffix of the last written name. */
  #isName(name: Uint8Array, start: number, length: number): boolean {
    for (let i = this.#width; i < length; i++) {
      if (this.#name[i] !== name[start + i]) return false;
    }
    return true;
  }

  /** Writes a link's name. Links to files have the files' suffixes, for programs that depend on them. */
  #writeLinkName(link: NodeId, position: number): number {
    let end = this.#linkNames.write(position, this.#name);
    if (this.#targets.areDirectories) return end;
    try {
      const isDirectory = this.#targets.areDirectories === undefined &&
        this.inner.isDirectory(this.#targetOf(link));
      if (isDirectory) return end;
      this.#resolve(link);
    } catch (error) {
      // Further access to that link reports the error; the other links are still listed.
      if (error instanceof RecordfsError) return end;
      throw error;
    }
    const { bytes, suffix } = this.#path;
    for (let i = suffix; i < bytes.length; i++) this.#name[end++] = bytes[i]!;
    return end;
  }

  #writeEpochName(epoch: number): number {
    const prefix = EPOCH_PREFIX.length;
    this.#name.set(EPOCH_PREFIX);
    const number = this.seed.firstEpoch + epoch;
    return prefix +
      this.#epochNames.write(number, this.#name.subarray(prefix));
  }

  #parseEpoch(name: Uint8Array, start: number, end: number): number {
    const digits = start + EPOCH_PREFIX.length;
    if (digits >= end) return -1;
    for (let i = 0; i < EPOCH_PREFIX.length; i++) {
      if (name[start + i] !== EPOCH_PREFIX[i]) return -1;
    }
    const { firstEpoch, epochs } = this.seed;
    const epoch = this.#epochNames.parse(name, digits, end) - firstEpoch;
    return epoch < epochs ? Math.max(epoch, -1) : -1;
  }
}

export async function reopenTree(
  { inner, seed }: WrappedHandle<LinkTargetsData>,
): Promise<Tree> {
  return await LinkTree.reopen(await reopenHandle(inner), seed);
}
