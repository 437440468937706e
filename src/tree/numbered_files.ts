import { type NumberedNames, numberedNames } from "./numbered_names.ts";
import { type EntryVisitor, type NodeId, ROOT } from "./tree.ts";

/** The node of file 0. */
const FIRST = ROOT + 1;

/** The files of a tree that is one directory, named by their numbers. File i has node id i + 2. */
export class NumberedFiles {
  /** How many there are. */
  readonly length: number;
  /** What every name ends in, such as `.jpg`; may be empty. */
  readonly suffix: string;
  readonly #names: NumberedNames;
  readonly #name: Uint8Array;

  constructor(length: number, suffix: string) {
    this.length = length;
    this.suffix = suffix;
    this.#names = numberedNames(length, suffix);
    this.#name = new Uint8Array(this.#names.maxLength);
  }

  /** How many nodes the tree has. */
  get nodeCount(): number {
    return this.length + 1;
  }

  /** The node of a name, or 0. */
  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent !== ROOT) return 0;
    const number = this.#names.parse(name, start, end);
    return number >= 0 && number < this.length ? number + FIRST : 0;
  }

  /** Tells of the files from `cursor` on, until the visitor has enough. */
  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir !== ROOT) return;
    for (let number = cursor; number < this.length; number++) {
      const end = this.#names.write(number, this.#name);
      if (!visit(this.#name, 0, end, number + FIRST, number + 1)) return;
    }
  }

  /** The number of the file that a node is, or -1. */
  numberOf(node: NodeId): number {
    const number = node - FIRST;
    const isFile = Number.isInteger(number) && number >= 0 &&
      number < this.length;
    return isFile ? number : -1;
  }
}
