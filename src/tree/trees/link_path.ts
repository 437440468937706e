import { RecordfsError } from "../../base/errors.ts";
import { LONGEST_NAME } from "../names/name_table_builder.ts";
import { type NodeId, ROOT, type Tree } from "../tree.ts";

/** Longest target of a symbolic link in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_PATH = 4095;

/** Longest suffix, dot included, that counts as a file type. */
const LONGEST_SUFFIX = 32;

const SLASH = 0x2f;
const DOT = 0x2e;

/** Writes paths from a directory of the root to other nodes: `../train/cat/001.jpg`. */
export class LinkPath {
  readonly bytes: Uint8Array = new Uint8Array(LONGEST_PATH);
  /** Start of the path in {@linkcode bytes}; it extends to the end of the buffer. */
  start = 0;
  /** Start of the last name's suffix, dot included; the end of the buffer if there is none. */
  suffix = 0;
  readonly #tree: Tree;
  readonly #name = new Uint8Array(LONGEST_NAME);
  readonly #isOfParts: boolean;

  /** @param isOfParts Whether a sample has several files. Their suffixes begin at the first dot of their names. */
  constructor(tree: Tree, isOfParts: boolean) {
    this.#tree = tree;
    this.#isOfParts = isOfParts;
  }

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
        "Cannot read the link: its sample is damaged and was skipped, as the mount reported",
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
          `Cannot link to node ${node}: it has no name`,
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
        `Cannot link to a file: its path has more than ${LONGEST_PATH} ` +
          "bytes",
      );
    }
    const { bytes } = this;
    for (let i = 0; i < length; i++) bytes[start + i] = name[i]!;
    this.start = start;
  }

  /** Finds the last dot, if text follows it, except leading dots; for samples of several files the first one. */
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
