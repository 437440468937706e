import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../not_loaded.ts";
import { decodeName } from "../../base/names.ts";
import { leadsToNoFile } from "../file_links.ts";
import type { EntryVisitor, NodeId, Tree } from "../tree.ts";

/** One entry of a directory, as a {@linkcode Walker} meets it. */
export interface WalkedNode {
  /** Path from the root of the container. */
  readonly path: string;
  readonly name: string;
  readonly node: NodeId;
  /** How many names below the directory that the walk started in: 1 for its own entries. */
  readonly depth: number;
  readonly isDirectory: boolean;
  /** The directory that it was met in. */
  readonly directory: NodeId;
  /** The cursor at which a listing of that directory starts with it. */
  readonly cursor: number;
}

/** What `VirtualFs.walk` reports of each entry. */
export interface WalkEntry {
  /** Path from the root of the container. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** How many names below the directory that is walked: 1 for its own entries. */
  readonly depth: number;
  /** The inode number that a mount shows. */
  readonly ino: number;
  /** Whether it is a file. */
  readonly isFile: boolean;
  /** Whether it is a directory. */
  readonly isDirectory: boolean;
}

/** Told of a directory that can't be listed, or not to its end, by its path. */
export type OnDamage = (error: FormatError, path: string) => void;

/** A directory being walked through, and how far it is. */
interface Level {
  readonly node: NodeId;
  /**
   * Never looked into. V8 keeps it as a list of parts, which the prefixes below it share, and what is
   * made of it for an entry is no part of it: 60,000 directories, each in the other, take as many parts,
   * where their paths written out would take gigabytes.
   */
  readonly prefix: string;
  cursor: number;
  done: boolean;
}

/** Entries taken from the tree at a time: directories of any size take little memory. */
const PAGE = 1000;

/**
 * Walks a tree depth first, each directory before its content, in the order of the container, a
 * page of entries at a time. Links show as the files that they lead to; those that lead to none are left out, unless
 * all links are wanted.
 */
export class Walker {
  readonly #tree: Tree;
  readonly #maxDepth: number;
  readonly #levels: Level[];
  /** Whether links that lead to no file show as well. */
  readonly #withLinks: boolean;
  readonly #onDamage: OnDamage | undefined;

  /**
   * @param start The directory to start in; it is not itself reported.
   * @param path Its path, which the paths of its entries start with.
   * @param maxDepth 1 for its own entries only.
   * @param onDamage Told of directories that can't be listed, whose rest is left out; without it the walk ends by them.
   * @param withLinks Whether links that lead to no file show as well.
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

  /**
   * The next entries; none at the end.
   *
   * @param most How many there are at most.
   */
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

  /** Adds entries of one directory, up to the first one that is to be descended into. */
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

/** An entry as it is reported. */
export function walkEntry(
  { path, name, depth, node, isDirectory }: WalkedNode,
): WalkEntry {
  return { path, name, depth, ino: node, isFile: !isDirectory, isDirectory };
}
