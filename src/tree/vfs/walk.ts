import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../not_loaded.ts";
import { decodeName } from "../../base/names.ts";
import { leadsToNoFile } from "../file_links.ts";
import type { EntryVisitor, NodeId, Tree } from "../tree.ts";

/** Directory entry, as a {@linkcode Walker} visits it. */
export interface WalkedNode {
  readonly path: string;
  readonly name: string;
  readonly node: NodeId;
  readonly depth: number;
  readonly isDirectory: boolean;
  readonly directory: NodeId;
  /** Cursor at which a listing of that directory starts with the entry. */
  readonly cursor: number;
}

/** Entry that `VirtualFs.walk` yields. */
export interface WalkEntry {
  /** Path from the root of the container. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** Number of names below the start of the walk: 1 for its own entries. */
  readonly depth: number;
  /** Inode number in a mount. */
  readonly ino: number;
  /** Whether it is a file. */
  readonly isFile: boolean;
  /** Whether it is a directory. */
  readonly isDirectory: boolean;
}

export type OnDamage = (error: FormatError, path: string) => void;

interface Level {
  readonly node: NodeId;
  /**
   * Must never be read into (flattened). V8 stores it as a rope that shares the prefixes above it; strings made from it
   * for an entry are separate. So 60,000 nested directories take as many parts, instead of gigabytes of written-out
   * paths.
   */
  readonly prefix: string;
  cursor: number;
  done: boolean;
}

/** Entries taken from the tree at a time, to bound memory for directories of any size. */
const PAGE = 1000;

/**
 * Walks a tree depth first, each directory before its contents, in the container's order, a page of entries at a time.
 * Links appear as the files they resolve to; links that resolve to no file are skipped unless `withLinks` is set.
 */
export class Walker {
  readonly #tree: Tree;
  readonly #maxDepth: number;
  readonly #levels: Level[];
  readonly #withLinks: boolean;
  readonly #onDamage: OnDamage | undefined;

  /**
   * @param start Directory to start in; it is not itself returned.
   * @param path Path of `start`, a prefix of the entries' paths.
   * @param onDamage Called with directories that cannot be listed, whose rest is skipped. Without it they end the walk.
   * @param withLinks Whether to include links that resolve to no file.
   */
  constructor(
    tree: Tree,
    start: NodeId,
    path: string,
    maxDepth: number,
    onDamage?: OnDamage,
    withLinks = false,
  ) {
    this.#tree = tree;
    this.#maxDepth = maxDepth;
    this.#onDamage = onDamage;
    this.#withLinks = withLinks;
    const prefix = path === "" ? "" : `${path}/`;
    this.#levels = [{ node: start, prefix, cursor: 0, done: false }];
  }

  /** Returns the next entries, at most `most`; none at the end. */
  *nextPage(most = PAGE): Steps<WalkedNode[]> {
    const page: WalkedNode[] = [];
    while (page.length < most) {
      const level = this.#levels.at(-1);
      if (level === undefined) break;
      if (level.done) this.#levels.pop();
      else yield* this.#fill(page, level, most);
    }
    return page;
  }

  /** Adds entries of one directory, up to the first to descend into. */
  *#fill(page: WalkedNode[], level: Level, most: number): Steps<void> {
    const tree = this.#tree;
    let descend: WalkedNode | undefined;
    let full = false;
    const visit: EntryVisitor = (bytes, start, end, node, next) => {
      if (!this.#withLinks && leadsToNoFile(tree, node)) {
        level.cursor = next;
        return true;
      }
      const name = decodeName(bytes, start, end);
      const isDirectory = tree.isDirectory(node);
      const entry: WalkedNode = {
        path: level.prefix + name,
        name,
        node,
        depth: this.#levels.length,
        isDirectory,
        directory: level.node,
        cursor: level.cursor,
      };
      page.push(entry);
      level.cursor = next;
      if (isDirectory && this.#levels.length < this.#maxDepth) {
        descend = entry;
      }
      full = page.length >= most;
      return descend === undefined && !full;
    };
    try {
      yield* whenLoaded(() => tree.list(level.node, level.cursor, visit));
    } catch (error) {
      const isTold = this.#onDamage !== undefined;
      if (!isTold || !(error instanceof FormatError)) throw error;
      level.done = true;
      return this.#onDamage!(error, level.prefix.replace(/\/$/, ""));
    }
    if (descend !== undefined) {
      this.#levels.push({
        node: descend.node,
        prefix: `${level.prefix}${descend.name}/`,
        cursor: 0,
        done: false,
      });
    } else level.done = !full;
  }
}

export function walkEntry(
  { path, name, depth, node, isDirectory }: WalkedNode,
): WalkEntry {
  return { path, name, depth, ino: node, isFile: !isDirectory, isDirectory };
}

/** Returns the path of an entry, or a path itself. */
export function pathOf(path: string | WalkEntry): string {
  return typeof path === "string" ? path : path.path;
}
