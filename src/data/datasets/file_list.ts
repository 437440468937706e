import { PathError } from "../../errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../names.ts";
import { type NodeId, ROOT, type Tree } from "../../tree/tree.ts";
import { findNode, normalise } from "../../vfs/paths.ts";
import { type WalkedNode, Walker } from "../../vfs/walk.ts";
import { GrowingNumbers, newNumbers } from "../growing_numbers.ts";

/** Numbers in shared memory. */
type Numbers = Float64Array | Uint32Array;

/** The columns of a {@linkcode FileList}: it survives `postMessage` without being copied. */
export interface FileListColumns {
  /** Of each file: its node. */
  readonly nodes: Numbers;
  /** Of each file: its directory, as the number of an entry below. */
  readonly directories: Numbers;
  /** Of each file: where in its directory it stands. */
  readonly cursors: Numbers;
  /** Of each directory: its node. The first is the root. */
  readonly directoryNodes: Numbers;
  /** Of each directory: the one that it lies in. */
  readonly directoryParents: Numbers;
  /** Of each directory: where in that one it stands. */
  readonly directoryCursors: Numbers;
}

/**
 * Files of a tree, numbered. 20 bytes a file and no object, since there may be millions: a path is made
 * of the names in the tree when it is asked for.
 */
export class FileList {
  readonly columns: FileListColumns;
  readonly #tree: Tree;

  /** @param columns What {@linkcode listFiles} found in this tree, or in the same one of another thread. */
  constructor(tree: Tree, columns: FileListColumns) {
    this.#tree = tree;
    this.columns = columns;
  }

  /** How many files there are. */
  get length(): number {
    return this.columns.nodes.length;
  }

  /** The node of a file. */
  node(file: number): NodeId {
    return this.columns.nodes[file]!;
  }

  /** The path of a file from the root of the container. */
  path(file: number): string {
    const { directories, cursors, directoryNodes } = this.columns;
    const { directoryParents, directoryCursors } = this.columns;
    let directory = directories[file]!;
    let path = this.#name(directoryNodes[directory]!, cursors[file]!);
    while (directory > 0) {
      const cursor = directoryCursors[directory]!;
      directory = directoryParents[directory]!;
      path = `${this.#name(directoryNodes[directory]!, cursor)}/${path}`;
    }
    return path;
  }

  #name(directory: NodeId, cursor: number): string {
    let name = "";
    this.#tree.list(directory, cursor, (bytes, start, end) => {
      name = decodeName(bytes, start, end);
      return false;
    });
    return name;
  }
}

/** A directory being walked through. */
interface OpenDirectory {
  readonly node: NodeId;
  readonly cursor: number;
  /** Its number, where a file in it is listed. */
  number: number | undefined;
}

/** Numbers the files that are added, and the directories that they lie in, along a walk. */
class FileListBuilder {
  readonly #nodes = new GrowingNumbers();
  readonly #directories = new GrowingNumbers(2 ** 32 - 1);
  readonly #cursors = new GrowingNumbers();
  readonly #directoryNodes = new GrowingNumbers();
  readonly #directoryParents = new GrowingNumbers(2 ** 32 - 1);
  readonly #directoryCursors = new GrowingNumbers();
  readonly #open: OpenDirectory[] = [];

  constructor() {
    this.#enter({ node: ROOT, cursor: 0, number: undefined });
    this.#number(0);
  }

  /** Takes the next entry of the walk; returns whether it is a file. */
  meet({ directory, isDirectory, node, cursor }: WalkedNode): boolean {
    while (this.#open.at(-1)!.node !== directory) this.#open.pop();
    if (isDirectory) this.#enter({ node, cursor, number: undefined });
    return !isDirectory;
  }

  /** Adds the file that was met last. */
  add({ node, cursor }: WalkedNode): void {
    this.#nodes.push(node);
    this.#directories.push(this.#number(this.#open.length - 1));
    this.#cursors.push(cursor);
  }

  finish(): FileListColumns {
    return {
      nodes: this.#nodes.finish(),
      directories: this.#directories.finish(),
      cursors: this.#cursors.finish(),
      directoryNodes: this.#directoryNodes.finish(),
      directoryParents: this.#directoryParents.finish(),
      directoryCursors: this.#directoryCursors.finish(),
    };
  }

  #enter(directory: OpenDirectory): void {
    this.#open.push(directory);
  }

  /** The number of an open directory, which it gets with those that it lies in. */
  #number(level: number): number {
    for (let i = 0; i <= level; i++) {
      const directory = this.#open[i]!;
      if (directory.number !== undefined) continue;
      directory.number = this.#directoryNodes.length;
      this.#directoryNodes.push(directory.node);
      this.#directoryParents.push(i === 0 ? 0 : this.#open[i - 1]!.number!);
      this.#directoryCursors.push(directory.cursor);
    }
    return this.#open[level]!.number!;
  }
}

/**
 * Lists the files of a tree that are chosen, depth first, in the order of the container.
 *
 * @param chooses Whether an entry is; of directories it is asked as well, before what they hold.
 */
export function* listFiles(
  tree: Tree,
  chooses: (entry: WalkedNode) => boolean,
): Steps<FileListColumns> {
  const walker = new Walker(tree, ROOT, "", Infinity);
  const builder = new FileListBuilder();
  for (;;) {
    const page = yield* walker.nextPage();
    if (page.length === 0) return builder.finish();
    for (const entry of page) {
      const isChosen = chooses(entry);
      if (builder.meet(entry) && isChosen) builder.add(entry);
    }
  }
}

/**
 * Lists files by their paths, in the order of these, repeats allowed.
 *
 * @param location The container's path, for messages.
 * @throws {PathError} If there is no such file.
 */
export function* listPaths(
  tree: Tree,
  location: string,
  paths: readonly string[],
): Steps<FileListColumns> {
  const nodes = new Set<NodeId>(); // most paths need not be looked at
  const places = new Map<string, number>();
  for (const path of paths) {
    const node = yield* findNode(tree, path);
    if (node === 0) throw new PathError("not-found", path, location);
    if (tree.isDirectory(node)) {
      throw new PathError("is-directory", path, location);
    }
    nodes.add(node);
    places.set(normalise(path), -1);
  }
  let found = 0;
  const columns = yield* listFiles(tree, (entry) => {
    const isWanted = nodes.has(entry.node) && places.has(entry.path);
    if (isWanted) places.set(entry.path, found++);
    return isWanted;
  });
  const order = paths.map((path) => places.get(normalise(path))!);
  return {
    ...columns,
    nodes: inOrder(columns.nodes, order),
    directories: inOrder(columns.directories, order),
    cursors: inOrder(columns.cursors, order),
  };
}

function inOrder(numbers: Numbers, order: readonly number[]): Numbers {
  const ordered = newNumbers(
    order.length,
    numbers instanceof Uint32Array ? 0 : Infinity,
  );
  for (const [i, place] of order.entries()) ordered[i] = numbers[place]!;
  return ordered;
}
