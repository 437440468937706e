import type { NodeId, Tree } from "../../../src/tree/tree.ts";

/** An entry of a directory. */
export interface Listed {
  readonly name: string;
  readonly node: NodeId;
}

/** The entries of a directory, taken `page` at a time. */
export function listed(tree: Tree, dir: NodeId, page = Infinity): Listed[] {
  const all: Listed[] = [];
  for (let cursor = 0, before = -1; all.length > before;) {
    before = all.length;
    const end = before + page;
    tree.list(dir, cursor, (bytes, start, past, node, next) => {
      if (all.length >= end) return false; // it does not fit
      const name = new TextDecoder().decode(bytes.slice(start, past));
      all.push({ name, node });
      cursor = next;
      return true;
    });
  }
  return all;
}

/** Every path below the root, directories with a slash at their ends, and its node. */
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

/** Finds a name in a directory; 0 where there is none. */
export function lookup(tree: Tree, dir: NodeId, name: string): NodeId {
  const bytes = new TextEncoder().encode(`<${name}>`);
  return tree.lookup(dir, bytes, 1, bytes.length - 1) as NodeId;
}
