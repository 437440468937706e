import { RecordfsError } from "../base/errors.ts";
import { LONGEST_NAME } from "./names/name_table_builder.ts";
import { type NodeId, ROOT, type Tree } from "./tree.ts";

/** Longest target of a symbolic link in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_PATH = 4095;

/** Longest ending, dot included, that counts as what tells the type of a file. */
const LONGEST_SUFFIX = 32;

const SLASH = 0x2f;
const DOT = 0x2e;

/** Writes paths from a directory of the root to other nodes: `../train/cat/001.jpg`. */
export class LinkPath {
  /** Holds the path. */
  readonly bytes: Uint8Array = new Uint8Array(LONGEST_PATH);
  /** Where the path starts in {@linkcode bytes}; it ends where they end. */
  start = 0;
  /** Where the suffix of its last name starts, dot included; at the end where that has none. */
  suffix = 0;
  readonly #tree: Tree;
  readonly #name = new Uint8Array(LONGEST_NAME);
  readonly #isOfParts: boolean;

  /**
   * @param tree One whose nodes have names.
   * @param isOfParts Whether several files are one sample: what tells them apart begins at the first dot of their names.
   */
  constructor(tree: Tree, isOfParts: boolean) {
    this.#tree = tree;
    this.#isOfParts = isOfParts;
  }

  /** Length of the path in bytes. */
  get length(): number {
    return this.bytes.length - this.start;
  }

  /**
   * Writes the path to a node.
   *
   * @throws {RecordfsError} If it is longer than the system follows, or there is no such node.
   */
  write(target: NodeId): void {
    if (target === 0) {
      throw new RecordfsError(
        "left-out",
        "The sample that a link is to lead to is damaged and left out, as was said when it was mounted",
      );
    }
    this.start = this.bytes.length;
    this.suffix = this.bytes.length;
    let node = target;
    while (node > ROOT) {
      const length = this.#tree.nameOf?.(node, this.#name) ?? 0;
      if (length === 0) {
        throw new RecordfsError(
          "no-name",
          `Node ${node} has no name that a link could lead to`,
        );
      }
      this.#prepend(this.#name, length);
      if (node === target) this.suffix = this.#findSuffix();
      this.#prepend(SLASH_BYTES, 1);
      node = this.#tree.parent(node);
    }
    this.#prepend(UP, UP.length);
  }

  #prepend(name: Uint8Array, length: number): void {
    const start = this.start - length;
    if (start < 0) {
      throw new RecordfsError(
        "too-long",
        `A file lies so deep that no link can lead to it: its path has over ${LONGEST_PATH} bytes`,
      );
    }
    const { bytes } = this;
    for (let i = 0; i < length; i++) bytes[start + i] = name[i]!;
    this.start = start;
  }

  /**
   * The last dot and what follows it, if anything does; dots that a name starts with are none. Of parts, the first dot
   * and all that follows.
   */
  #findSuffix(): number {
    const { bytes, start } = this;
    const end = bytes.length;
    if (this.#isOfParts) {
      const dot = bytes.indexOf(DOT, start + 1);
      return dot < 0 ? end : dot;
    }
    let first = start;
    while (first < end && bytes[first] === DOT) first++;
    first = Math.max(first, end - LONGEST_SUFFIX);
    for (let i = end - 1; i >= first; i--) {
      if (bytes[i] === DOT) return i === end - 1 ? end : i;
    }
    return end;
  }
}

const UP = new Uint8Array([DOT, DOT]);
const SLASH_BYTES = new Uint8Array([SLASH]);
