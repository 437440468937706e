import { PathError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import { shareNumbers, type WholeNumbers } from "../../tree/shared_numbers.ts";
import { type NodeId, ROOT, type Tree } from "../../tree/tree.ts";
import { findNode, normalise } from "../../tree/vfs/paths.ts";
import { type WalkedNode, Walker } from "../../tree/vfs/walk.ts";
import { GrowingNumbers } from "../../tree/growing_numbers.ts";

/** The columns of a {@linkcode FileList}: it survives `postMessage` without being copied. */
export interface FileListColumns {
  /** Of each file: its node. */
  readonly nodes: WholeNumbers;
  /** Of each file: its directory, as the number of an entry below. */
  readonly directories: WholeNumbers;
  /** Of each file: where in its directory it stands. */
  readonly cursors: WholeNumbers;
  /** Of each directory: its node. The first is the root. */
  readonly directoryNodes: WholeNumbers;
  /** Of each directory: the one that it lies in. */
  readonly directoryParents: WholeNumbers;
  /** Of each directory: where in that one it stands. */
  readonly directoryCursors: WholeNumbers;
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

  /** Number of files. */
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

/**
 * Lists the files of a tree that are chosen, depth first, in the order of the container.
 *
 * @param chooses Whether an entry is; of directories it is asked as well, before what they hold.
 */
export function* listFiles(
  tree: Tree,
  chooses: (entry: WalkedNode) => boolean,
): Steps<FileListColumns> {
  const columns = {
    nodes: new GrowingNumbers(),
    directories: new GrowingNumbers(2 ** 32),
    cursors: new GrowingNumbers(),
    directoryNodes: new GrowingNumbers(),
    directoryParents: new GrowingNumbers(2 ** 32),
    directoryCursors: new GrowingNumbers(),
  };
  const open: OpenDirectory[] = [{ node: ROOT, cursor: 0, number: undefined }];
  /** Numbers the open directories; returns the number of the innermost. */
  const numbered = () => {
    let parent = 0;
    for (const directory of open) {
      if (directory.number === undefined) {
        directory.number = columns.directoryNodes.length;
        columns.directoryNodes.push(directory.node);
        columns.directoryParents.push(parent);
        columns.directoryCursors.push(directory.cursor);
      }
      parent = directory.number;
    }
    return parent;
  };
  numbered();
  const walker = new Walker(tree, ROOT, "", Infinity);
  for (;;) {
    const page = yield* walker.nextPage();
    if (page.length === 0) break;
    for (const entry of page) {
      const { directory, isDirectory, node, cursor } = entry;
      const isChosen = chooses(entry);
      while (open.at(-1)!.node !== directory) open.pop();
      if (isDirectory) open.push({ node, cursor, number: undefined });
      else if (isChosen) {
        columns.nodes.push(node);
        columns.directories.push(numbered());
        columns.cursors.push(cursor);
      }
    }
  }
  const finished = Object.entries(columns).map(([name, numbers]) =>
    [name, numbers.finish()] as const
  );
  return Object.fromEntries(finished) as unknown as FileListColumns;
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

function inOrder(
  numbers: WholeNumbers,
  order: readonly number[],
): WholeNumbers {
  return shareNumbers(
    order.map((place) => numbers[place]!),
    numbers instanceof Uint32Array ? 2 ** 32 : Infinity,
  );
}
