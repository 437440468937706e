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

/** Served container, with lookup by URL path. */
export class Served {
  readonly fs: VirtualFs;
  readonly tree: Tree;
  readonly streams: Streams;

  constructor(fs: VirtualFs, streams: Streams) {
    this.fs = fs;
    this.streams = streams;
    this.tree = fs.tree;
  }

  /**
   * Looks up a URL path.
   *
   * @param path Percent-encoded names separated by slashes, with an optional trailing one; empty for the root.
   * @returns The node, or 0. Links are followed.
   * @throws {ServeError} If the path is invalid.
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

  /** {@linkcode Served.find} that throws a {@linkcode ServeError} if nothing is there. */
  *get(path: string): Steps<NodeId> {
    const node = yield* this.find(path);
    if (node !== 0) return node;
    throw new ServeError(
      "not-found",
      "Cannot open this: there is no such file or directory",
    );
  }

  *isDirectory(node: NodeId): Steps<boolean> {
    return yield* whenLoaded(() => this.tree.isDirectory(node));
  }

  /** Returns a node's metadata. Throws {@linkcode FormatError} if the container is damaged at this point. */
  *stat(node: NodeId, into: NodeStat = newStat()): Steps<NodeStat> {
    const { tree } = this;
    if (yield* whenLoaded(() => tree.stat(node, into))) return into;
    throw new PathError("not-found", "", this.fs.location);
  }

  /** Targets of links are never links, so one step suffices. */
  #follow(node: NodeId): NodeId {
    return this.tree.isLink!(node) ? this.tree.target?.(node) ?? 0 : node;
  }
}
