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

/** Entries described before yielding to other requests. */
const MANY = 256;

export interface NamedNode {
  readonly name: string;
  readonly node: NodeId;
  /** Cursor of the next entry. */
  readonly next: number;
}

export interface ListedEntry extends NamedNode {
  readonly isDirectory: boolean;
  readonly isLink: boolean;
  /** In bytes; 0 for a directory, `null` if the container is damaged at this point. */
  readonly size: number | null;
  /** Description of the damage, if the container reports it. */
  readonly damage: string | null;
  /** In milliseconds since 1970. */
  readonly mtime: number;
}

export interface EntryPage<Entry extends NamedNode> {
  readonly entries: readonly Entry[];
  /** Cursor of the next page; `undefined` at the end. */
  readonly next: number | undefined;
}

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
      isFull = true; // one more entry exists, so the next page is never empty
      return false;
    }
    entries.push({ name: decodeName(bytes, start, end), node, next });
    from = next;
    return true;
  };
  yield* whenLoaded(() => tree.list(directory, from, visit));
  return { entries, next: isFull ? from : undefined };
}

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

/** Describes an entry, or the target of a link. Damaged entries have no size. */
export function* describe(
  tree: Tree,
  entry: NamedNode,
): Steps<ListedEntry> {
  return yield* whenLoaded(() => describeNow(tree, entry));
}

/** {@linkcode describe} for loaded nodes. Throws {@linkcode NotLoaded} for others. */
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
