import { NotLoaded } from "../../../src/tree/not_loaded.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import {
  type EntryVisitor,
  type Extent,
  type NodeId,
  type NodeStat,
  placeUnchecked,
  type Tree,
  type TreeHandle,
} from "../../../src/tree/tree.ts";

/** Entries of a directory of a {@linkcode MemoryTree}, by name. */
export interface Folder {
  readonly [name: string]: Folder | Leaf;
}

/** A file: its text in the source, or a special case. */
export type Leaf =
  | string
  /** Content that is computed instead of stored. */
  | { readonly kind: "computed"; readonly text: string }
  /** `stat` and `locate` fail with this message. */
  | { readonly kind: "damaged"; readonly message: string }
  /** `stat` ends the calling thread. */
  | { readonly kind: "fatal" }
  /** `stat` would have to wait. */
  | { readonly kind: "remote" }
  /** Its extent is outside the source. */
  | { readonly kind: "outside" };

interface Node {
  readonly name: Uint8Array;
  readonly parent: NodeId;
  readonly children: NodeId[] | undefined;
  readonly kind:
    | "folder"
    | "stored"
    | "computed"
    | "damaged"
    | "fatal"
    | "remote";
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly message: string;
}

/** Modification time of all nodes of a {@linkcode MemoryTree}, in milliseconds. */
export const MTIME = 1_700_000_000_125;

/** Test tree that is built from an object. */
export class MemoryTree implements Tree {
  readonly sources: readonly MemorySource[];
  readonly #nodes: readonly Node[];

  private constructor(nodes: readonly Node[], content: Uint8Array) {
    this.#nodes = nodes;
    this.sources = [new MemorySource(content, "memory", MTIME)];
  }

  static of(folder: Folder): MemoryTree {
    const builder = new Builder();
    builder.addFolder("", 1, folder);
    return new MemoryTree(builder.nodes, builder.content());
  }

  static reopen(data: unknown): MemoryTree {
    return new MemoryTree(data as Node[], new Uint8Array());
  }

  get nodeCount(): number {
    return this.#nodes.length;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const wanted = name.slice(start, end).join();
    const children = this.#nodes[parent - 1]?.children ?? [];
    return children.find((child) => this.#node(child).name.join() === wanted) ??
      0;
  }

  parent(node: NodeId): NodeId {
    return this.#node(node).parent;
  }

  isDirectory(node: NodeId): boolean {
    return this.#nodes[node - 1]?.children !== undefined;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const children = this.#nodes[dir - 1]?.children ?? [];
    for (let i = cursor; i < children.length; i++) {
      const child = children[i] as NodeId;
      const { name } = this.#node(child);
      // Names are in a larger buffer, as in real trees.
      const buffer = new Uint8Array(name.length + 5).fill(0xee);
      buffer.set(name, 3);
      if (!visit(buffer, 3, 3 + name.length, child, i + 1)) return;
    }
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const { name } = this.#node(node);
    into.set(name);
    return name.length;
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const found = this.#nodes[node - 1];
    if (found === undefined) return false;
    if (found.kind === "fatal") throw new Fatal();
    if (found.kind === "damaged") throw new Error(found.message);
    if (found.kind === "remote") {
      throw new NotLoaded("far.ffr", function* () {});
    }
    into.isDirectory = found.children !== undefined;
    into.size = found.bytes.length;
    into.mtime = MTIME;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const found = this.#nodes[node - 1];
    if (found === undefined || found.children !== undefined) return false;
    if (found.kind === "damaged") throw new Error(found.message);
    if (found.kind === "remote") {
      throw new NotLoaded("far.ffr", function* () {});
    }
    const computed = found.kind === "computed";
    into.source = computed ? -1 : 0;
    into.offset = found.offset;
    into.length = found.bytes.length;
    placeUnchecked(into);
    into.bytes = computed ? found.bytes : undefined;
    return true;
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.#nodes };
  }

  close(): void {}

  #node(id: NodeId): Node {
    return this.#nodes[id - 1] as Node;
  }
}

/** Reopens a tree in a serving thread. */
export function reopenTree(data: unknown): Tree {
  return MemoryTree.reopen(data);
}

/** An error whose message throws, so that it defeats error handlers. */
class Fatal extends Error {
  override get message(): string {
    throw new Error("this thread was to end");
  }
}

class Builder {
  readonly nodes: Node[] = [];
  readonly #parts: Uint8Array[] = [new Uint8Array(7)]; // no file starts at offset 0
  #size = 7;
  readonly #encoder = new TextEncoder();

  addFolder(name: string, parent: NodeId, folder: Folder): NodeId {
    const children: NodeId[] = [];
    const id = this.#add(name, parent, { kind: "folder", children });
    for (const [name, entry] of Object.entries(folder)) {
      children.push(
        isLeaf(entry)
          ? this.#addLeaf(name, id, entry)
          : this.addFolder(name, id, entry),
      );
    }
    return id;
  }

  content(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  #addLeaf(name: string, parent: NodeId, leaf: Leaf): NodeId {
    if (typeof leaf === "string") {
      const bytes = this.#encoder.encode(leaf);
      const offset = this.#size;
      this.#parts.push(bytes);
      this.#size += bytes.length;
      return this.#add(name, parent, { kind: "stored", bytes, offset });
    }
    switch (leaf.kind) {
      case "computed":
        return this.#add(name, parent, {
          kind: "computed",
          bytes: this.#encoder.encode(leaf.text),
        });
      case "damaged":
        return this.#add(name, parent, {
          kind: "damaged",
          message: leaf.message,
        });
      case "fatal":
        return this.#add(name, parent, { kind: "fatal" });
      case "remote":
        return this.#add(name, parent, { kind: "remote" });
      case "outside":
        return this.#add(name, parent, {
          kind: "stored",
          bytes: new Uint8Array(10),
          offset: 1e6,
        });
    }
  }

  #add(
    name: string,
    parent: NodeId,
    node: Partial<Node> & Pick<Node, "kind">,
  ): NodeId {
    return this.nodes.push({
      name: this.#encoder.encode(name),
      parent,
      children: undefined,
      offset: 0,
      bytes: new Uint8Array(),
      message: "",
      ...node,
    });
  }
}

function isLeaf(entry: Folder | Leaf): entry is Leaf {
  return typeof entry === "string" || typeof entry.kind === "string";
}
