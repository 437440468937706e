import { viewOf } from "../../../base/view_of.ts";
import { Kind, kindOf, NodeFlag, Size, wordAt } from "../layout.ts";

/** Thrown for a damaged page. The message completes the sentence "The page …". */
export class PageFault extends Error {
  override name = "PageFault";
}

/** Flag of pages whose values have a fixed size and no node headers. */
const FIXED = 0x20;

/** A branch or leaf page, or the small page of a key's values in a leaf. Its nodes lie inside it, and are apart. */
export class NodePage {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Number of nodes. */
  readonly count: number;
  /** Size of each value, if they have no node headers; otherwise 0. */
  readonly valueSize: number;
  readonly #start: number;

  /**
   * Checks a page that lies at `bytes[start … end]`.
   *
   * @param kind What it must be.
   * @param number Its page number; -1 if it has none.
   * @throws {PageFault} If it is damaged.
   */
  constructor(
    bytes: Uint8Array,
    kind: number,
    number: number,
    start = 0,
    end = bytes.length,
  ) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.#start = start;
    const size = end - start;
    if (size < Size.PAGE_HEADER || kindOf(this.view, start) !== kind) {
      const wanted = kind === Kind.LEAF ? "leaf" : "branch";
      throw new PageFault(`is not a ${wanted} page, as its parent says`);
    }
    const own = number < 0 ? number : wordAt(this.view, start);
    if (own !== number) throw new PageFault(`has the number of page ${own}`);
    const field = (at: number) => this.view.getUint16(start + at, true);
    const valueSize = field(8);
    const isFixed = (field(10) & FIXED) !== 0;
    this.valueSize = isFixed ? valueSize : 0;
    this.count = field(12) - Size.PAGE_HEADER >> 1;
    const room = size - Size.PAGE_HEADER;
    const isSound = this.count >= 0 && this.count <= room >> 1 &&
      (!isFixed || valueSize > 0 && this.count * valueSize <= room);
    if (!isSound) throw new PageFault(`has a list of ${this.count} nodes`);
    if (!isFixed) this.#requireApart(field(14), end, kind === Kind.LEAF);
  }

  /** Returns the index in `bytes` of a node, or of a value without node header. */
  at(node: number): number {
    const first = this.#start + Size.PAGE_HEADER;
    return this.valueSize > 0
      ? first + node * this.valueSize
      : this.#start + this.view.getUint16(first + 2 * node, true);
  }

  /** Returns the size of a leaf node's value. */
  sizeAt(at: number): number {
    return this.view.getUint32(at, true);
  }

  flagsAt(at: number): number {
    return this.view.getUint16(at + 4, true);
  }

  /** Returns the index in `bytes` of the end of a node's key. */
  keyEndAt(at: number): number {
    return at + Size.NODE_HEADER + this.view.getUint16(at + 6, true);
  }

  /** Returns the page number of a branch node. */
  childAt(at: number): number {
    return this.view.getUint32(at, true) + this.flagsAt(at) * 2 ** 32;
  }

  /** Nodes that overlap would let a small file have more keys than fit any memory. */
  #requireApart(upper: number, end: number, areLeaves: boolean): void {
    let left = end - this.#start - upper;
    for (let node = 0; node < this.count; node++) {
      const at = this.at(node);
      const isInside = at >= this.#start + upper &&
        at + Size.NODE_HEADER <= end;
      if (!isInside) throw new PageFault(`has a node at byte ${at}`);
      let past = this.keyEndAt(at);
      if (areLeaves) {
        const isApart = (this.flagsAt(at) & NodeFlag.OVERFLOW) !== 0;
        past += isApart ? Size.PAGE_NUMBER : this.sizeAt(at);
      }
      left -= past - at + (past - at) % 2;
      if (past > end || left < 0) {
        throw new PageFault(`has a node of ${past - at} bytes at byte ${at}`);
      }
    }
  }
}
