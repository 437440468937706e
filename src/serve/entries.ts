import { FormatError } from "../base/errors.ts";
import { perform, type Steps } from "../io/concurrency/steps.ts";
import { decodeName } from "../base/names.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import {
  type EntryVisitor,
  newStat,
  type NodeId,
  type Tree,
} from "../tree/tree.ts";
import { whenItsTurn } from "./its_turn.ts";

/** Entries that are described without a pause. */
const MANY = 256;

/** An entry of a directory, as its tree lists it. */
export interface NamedNode {
  readonly name: string;
  readonly node: NodeId;
  /** Where a listing goes on behind it. */
  readonly next: number;
}

/** What there is to say of an entry. */
export interface ListedEntry extends NamedNode {
  readonly isDirectory: boolean;
  readonly isLink: boolean;
  /** In bytes; 0 of a directory; `null` where the container is damaged at that place. */
  readonly size: number | null;
  /** Why it is damaged, where the container says so. */
  readonly damage: string | null;
  /** In milliseconds since 1970. */
  readonly mtime: number;
}

/** Entries of a directory, and where the rest of them starts. */
export interface EntryPage<Entry extends NamedNode> {
  readonly entries: readonly Entry[];
  /** `undefined` at the end. */
  readonly next: number | undefined;
}

/** Names a page of a directory. */
export function* namesFrom(
  tree: Tree,
  directory: NodeId,
  cursor: number,
  limit: number,
): Steps<EntryPage<NamedNode>> {
  const entries: NamedNode[] = [];
  let from = cursor;
  let isFull = limit === 0;
  const visit: EntryVisitor = (bytes, start, end, node, next) => {
    if (entries.length === limit) {
      isFull = true; // there is one more, so that a page is never followed by none
      return false;
    }
    entries.push({ name: decodeName(bytes, start, end), node, next });
    from = next;
    return true;
  };
  yield* whenLoaded(() => tree.list(directory, from, visit));
  return { entries, next: isFull ? from : undefined };
}

/** Describes a page of a directory. */
export function* entriesFrom(
  tree: Tree,
  directory: NodeId,
  cursor: number,
  limit: number,
): Steps<EntryPage<ListedEntry>> {
  const { entries, next } = yield* namesFrom(tree, directory, cursor, limit);
  const described: ListedEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    if (i % MANY === MANY - 1) yield* perform(whenItsTurn);
    described.push(yield* describe(tree, entry));
  }
  return { entries: described, next };
}

/** Describes an entry; what is damaged has no size. Of a link, what it leads to is described. */
export function* describe(
  tree: Tree,
  entry: NamedNode,
): Steps<ListedEntry> {
  return yield* whenLoaded(() => describeNow(tree, entry));
}

/**
 * {@linkcode describe} of what is loaded.
 *
 * @throws {NotLoaded} If it is not.
 */
export function describeNow(tree: Tree, entry: NamedNode): ListedEntry {
  const stat = newStat();
  const isLink = tree.isLink?.(entry.node) === true;
  const node = isLink ? tree.target?.(entry.node) ?? 0 : entry.node;
  const isDirectory = tree.isDirectory(node);
  let size: number | null = null;
  let damage: string | null = null;
  try {
    if (tree.stat(node, stat)) size = stat.size;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    damage = error.message;
  }
  const { name, next } = entry;
  const { mtime } = stat;
  return { name, node, next, isDirectory, isLink, size, damage, mtime };
}
