import { encodeName } from "../../base/names.ts";
import { compareBytes } from "../names/name_table.ts";
import type {
  EntryVisitor,
  Extent,
  NodeId,
  NodeStat,
  SampleNodes,
  Tree,
} from "../tree.ts";
import { placeBytes, reopenHandle } from "../tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";

/** File that a tree has besides its own. */
export interface AddedFile {
  /** Node of its directory. */
  readonly directory: NodeId;
  /** Name, which the directory has no entry of. */
  readonly name: string;
  /** Content. */
  readonly text: string;
}

/** Adds small files to a tree, which are no samples. The new tree owns `inner`. */
export function withFiles(inner: Tree, files: readonly AddedFile[]): Tree {
  return files.length === 0 ? inner : new AddedFiles(inner, files);
}

/** A tree without links, with small files besides. Node ids: those of the tree; then the files. */
class AddedFiles extends WrappedTree<readonly AddedFile[]> {
  readonly samples?: () => SampleNodes;
  readonly #files: readonly (AddedFile & {
    readonly bytes: Uint8Array;
    readonly content: Uint8Array;
  })[];

  constructor(inner: Tree, files: readonly AddedFile[]) {
    super(inner, files, import.meta.url);
    if (inner.samples) this.samples = () => inner.samples!();
    this.#files = files.map((file) => {
      const [bytes, content] = [encodeName(file.name), encodeName(file.text)];
      return { ...file, bytes, content };
    });
  }

  override get nodeCount(): number {
    return this.inner.nodeCount + this.#files.length;
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const found = this.inner.lookup(parent, name, start, end);
    if (found !== 0) return found;
    const at = this.#files.findIndex(({ directory, bytes }) =>
      directory === parent &&
      compareBytes(bytes, 0, bytes.length, name, start, end) === 0
    );
    return at < 0 ? 0 : this.#first + at;
  }

  override parent(node: NodeId): NodeId {
    return this.#fileOf(node)?.directory ?? super.parent(node);
  }

  override isDirectory(node: NodeId): boolean {
    return this.#fileOf(node) === undefined && super.isDirectory(node);
  }

  override nameOf(node: NodeId, into: Uint8Array): number {
    const name = this.#fileOf(node)?.bytes;
    if (name === undefined) return super.nameOf(node, into);
    into.set(name);
    return name.length;
  }

  /** Lists the added files first. */
  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    let count = 0;
    for (const [i, { directory, bytes }] of this.#files.entries()) {
      if (directory !== dir) continue;
      const isNext = ++count > cursor;
      const goesOn = !isNext ||
        visit(bytes, 0, bytes.length, this.#first + i, count);
      if (!goesOn) return;
    }
    if (count === 0) return this.inner.list(dir, cursor, visit);
    this.inner.list(
      dir,
      Math.max(0, cursor - count),
      (name, start, end, node, next) =>
        visit(name, start, end, node, next + count),
    );
  }

  override stat(node: NodeId, into: NodeStat): boolean {
    const content = this.#fileOf(node)?.content;
    if (content === undefined) return super.stat(node, into);
    super.stat(this.parent(node), into); // its time
    into.isDirectory = false;
    into.size = content.length;
    return true;
  }

  override locate(node: NodeId, into: Extent): boolean {
    const content = this.#fileOf(node)?.content;
    if (content === undefined) return super.locate(node, into);
    placeBytes(content, into);
    return true;
  }

  get #first(): NodeId {
    return this.inner.nodeCount + 1;
  }

  #fileOf(node: NodeId) {
    return this.#files[node - this.#first];
  }
}

export async function reopenTree(
  { inner, seed }: WrappedHandle<readonly AddedFile[]>,
): Promise<Tree> {
  return withFiles(await reopenHandle(inner), seed);
}
