import { PathError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import { shareNumbers, type WholeNumbers } from "../../tree/shared_numbers.ts";
import { type NodeId, ROOT, type Tree } from "../../tree/tree.ts";
import { findNode, normalise } from "../../tree/vfs/paths.ts";
import { type WalkedNode, Walker } from "../../tree/vfs/walk.ts";
import { GrowingNumbers } from "../../tree/growing_numbers.ts";

/** Columns of a {@linkcode FileList}. They pass to other threads without a copy. */
export interface FileListColumns {
  /** Node of each file. */
  readonly nodes: WholeNumbers;
  /** Directory of each file, as an index into the directory columns. */
  readonly directories: WholeNumbers;
  /** Cursor of each file in its directory. */
  readonly cursors: WholeNumbers;
  /** Node of each directory. The first is the root. */
  readonly directoryNodes: WholeNumbers;
  /** Parent of each directory, as an index into the directory columns. */
  readonly directoryParents: WholeNumbers;
  /** Cursor of each directory in its parent. */
  readonly directoryCursors: WholeNumbers;
}

/**
 * Numbered files of a tree. Takes 20 bytes a file and no objects, since there may be millions: paths are built on
 * demand from the names in the tree.
 */
export class FileList {
  readonly columns: FileListColumns;
  readonly #tree: Tree;

  /** @param columns Result of {@linkcode listFiles} for this tree, or for the same tree in another thread. */
  constructor(tree: Tree, columns: FileListColumns) {
    this.#tree = tree;
    this.columns = columns;
  }

  get length(): number {
    return this.columns.nodes.length;
  }

  node(file: number): NodeId {
    return this.columns.nodes[file]!;
  }

  /** Returns the path of a file, relative to the root of the container. */
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

interface OpenDirectory {
  readonly node: NodeId;
  readonly cursor: number;
  /** Index into the directory columns, once a file in it is listed. */
  number: number | undefined;
}

/**
 * Lists the chosen files of a tree, depth first, in the order of the container. Calls `chooses` with directories
 * too, before their entries.
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
  /** Numbers the open directories and returns the number of the innermost. */
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
 * Lists files by their paths, in the given order, repeats allowed.
 *
 * @param location Path of the container, for messages.
 * @throws {PathError} If there is no such file, or it is a directory.
 */
export function* listPaths(
  tree: Tree,
  location: string,
  paths: readonly string[],
): Steps<FileListColumns> {
  const nodes = new Set<NodeId>(); // cheap filter: the paths of most entries need not be built
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
