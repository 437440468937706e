import type { NodeId, Tree } from "../../../src/tree/tree.ts";

/** Directory entry. */
export interface Listed {
  readonly name: string;
  readonly node: NodeId;
}

/** Returns the entries of a directory, listed in pages of `page` entries. */
export function listed(tree: Tree, dir: NodeId, page = Infinity): Listed[] {
  const all: Listed[] = [];
  for (let cursor = 0, before = -1; all.length > before;) {
    before = all.length;
    const end = before + page;
    tree.list(dir, cursor, (bytes, start, past, node, next) => {
      if (all.length >= end) return false; // the page is full
      const name = new TextDecoder().decode(bytes.slice(start, past));
      all.push({ name, node });
      cursor = next;
      return true;
    });
  }
  return all;
}

/** Returns every path below the root, with its node; directories end in a slash. */
export function walked(
  tree: Tree,
  dir: NodeId = 1,
  prefix = "",
): [path: string, node: NodeId][] {
  return listed(tree, dir).flatMap(({ name, node }) =>
    tree.isDirectory(node)
      ? [
        [`${prefix}${name}/`, node] as [string, NodeId],
        ...walked(tree, node, `${prefix}${name}/`),
      ]
      : [[prefix + name, node] as [string, NodeId]]
  );
}

/** Finds a name in a directory; returns 0 if it does not exist. */
export function lookup(tree: Tree, dir: NodeId, name: string): NodeId {
  const bytes = new TextEncoder().encode(`<${name}>`);
  return tree.lookup(dir, bytes, 1, bytes.length - 1) as NodeId;
}
