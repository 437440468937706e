import { PathError } from "../base/errors.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import {
  newStat,
  type NodeId,
  type NodeStat,
  ROOT,
  type Tree,
} from "../tree/tree.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { decodePath } from "./paths.ts";
import { ServeError } from "./serve_error.ts";
import type { Streams } from "./streams.ts";

/** The container that a server serves, and how paths of URLs lead into it. */
export class Served {
  readonly fs: VirtualFs;
  readonly tree: Tree;
  /** What makes the bodies of long answers. */
  readonly streams: Streams;

  constructor(fs: VirtualFs, streams: Streams) {
    this.fs = fs;
    this.streams = streams;
    this.tree = fs.tree;
  }

  /**
   * Finds what the path of a URL names.
   *
   * @param path Percent-encoded names with slashes between, and maybe one behind; empty for the root.
   * @returns The node, or 0. Links are followed.
   * @throws {ServeError} If it is no path of names.
   */
  *find(path: string): Steps<NodeId> {
    const { tree } = this;
    let node = ROOT;
    for (const name of decodePath(path)) {
      const parent = node;
      const found = () => tree.lookup(parent, name, 0, name.length);
      node = yield* whenLoaded(found);
      if (node === 0) return 0;
      if (tree.isLink !== undefined) node = this.#follow(node);
    }
    return node;
  }

  /**
   * {@linkcode Served.find} of what has to be there.
   *
   * @throws {ServeError} If there is nothing.
   */
  *get(path: string): Steps<NodeId> {
    const node = yield* this.find(path);
    if (node !== 0) return node;
    throw new ServeError("not-found", "There is no such file or directory");
  }

  /** Whether a node is a directory. */
  *isDirectory(node: NodeId): Steps<boolean> {
    return yield* whenLoaded(() => this.tree.isDirectory(node));
  }

  /**
   * Describes a node.
   *
   * @throws {FormatError} If the container is damaged at that place.
   */
  *stat(node: NodeId, into: NodeStat = newStat()): Steps<NodeStat> {
    const { tree } = this;
    if (yield* whenLoaded(() => tree.stat(node, into))) return into;
    throw new PathError("not-found", "", this.fs.location);
  }

  /** A tree's links lead to what is none, so that there is one step at most. */
  #follow(node: NodeId): NodeId {
    return this.tree.isLink!(node) ? this.tree.target?.(node) ?? 0 : node;
  }
}
