import {
  NodeFlag,
  PageField,
  PageFlag,
  pageKind,
  Size,
  viewOf,
} from "../layout.ts";

/** Thrown for a damaged page. The message completes the sentence "The page …". */
export class PageFault extends Error {
  override name = "PageFault";
}

/** A branch or leaf page, or the small page of a key's values in a leaf. Its nodes lie inside it, and are apart. */
export class NodePage {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Number of nodes. */
  readonly count: number;
  /** Size of each value, if they have no node headers; otherwise 0. */
  readonly valueSize: number;
  /** Index in `bytes` of its start. */
  readonly start: number;

  /**
   * Checks a page.
   *
   * @param kind What it must be.
   * @throws {PageFault} If it is damaged.
   */
  constructor(
    bytes: Uint8Array,
    kind: number,
    start = 0,
    end: number = bytes.length,
  ) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.start = start;
    if (end - start < Size.PAGE_HEADER) {
      throw new PageFault("is shorter than the header of a page");
    }
    const found = pageKind(this.view, start);
    if (found !== kind) {
      const wanted = kind === PageFlag.LEAF ? "leaf" : "branch";
      throw new PageFault(
        `is not a ${wanted} page, but has the flags ${found}`,
      );
    }
    const flags = this.#field(PageField.FLAGS);
    const lower = this.#field(PageField.LOWER);
    const room = end - start;
    this.count = lower - Size.PAGE_HEADER >> 1;
    const isFixed = (flags & PageFlag.FIXED) !== 0;
    this.valueSize = isFixed ? this.#field(PageField.VALUE_SIZE) : 0;
    const past = Size.PAGE_HEADER + this.count * Math.max(2, this.valueSize);
    if (lower < Size.PAGE_HEADER || past > room) {
      throw new PageFault(`has a list of nodes up to byte ${lower}`);
    }
    if (!isFixed) this.#requireNodes(kind === PageFlag.LEAF, end);
    else if (this.valueSize === 0 && this.count > 0) {
      throw new PageFault("has values of no size");
    }
  }

  /** Returns the index in `bytes` of a node, or of a value without node header. */
  at(node: number): number {
    const { start, valueSize } = this;
    if (valueSize > 0) return start + Size.PAGE_HEADER + node * valueSize;
    return start + this.#field(Size.PAGE_HEADER + 2 * node);
  }

  /** Returns the size of a leaf node's value. */
  sizeAt(at: number): number {
    return this.view.getUint32(at, true);
  }

  flagsAt(at: number): number {
    return this.view.getUint16(at + 4, true);
  }

  keySizeAt(at: number): number {
    return this.view.getUint16(at + 6, true);
  }

  /** Returns the page number of a branch node. */
  childAt(at: number): number {
    return this.view.getUint32(at, true) + this.flagsAt(at) * 2 ** 32;
  }

  #field(offset: number): number {
    return this.view.getUint16(this.start + offset, true);
  }

  /** Nodes that overlap would let a small file have more keys than fit any memory. */
  #requireNodes(areLeaves: boolean, end: number): void {
    const upper = this.#field(PageField.UPPER);
    let left = end - this.start - upper;
    for (let node = 0; node < this.count; node++) {
      const at = this.at(node);
      if (at < this.start + upper || at + Size.NODE_HEADER > end) {
        throw new PageFault(`has a node at byte ${at - this.start}`);
      }
      let size = Size.NODE_HEADER + this.keySizeAt(at);
      if (areLeaves) {
        const isElsewhere = (this.flagsAt(at) & NodeFlag.OVERFLOW) !== 0;
        size += isElsewhere ? Size.PAGE_NUMBER : this.sizeAt(at);
      }
      left -= size + size % 2;
      if (at + size > end || left < 0) {
        throw new PageFault(
          `has a node of ${size} bytes at byte ${
            at - this.start
          }, which overlaps others or exceeds it`,
        );
      }
    }
  }
}
