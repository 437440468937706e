import type { NodeId } from "../../../tree/tree.ts";

/** Most elements of a list that is shown as a directory. */
const MOST = 1 << 20;
/** Bytes that an element takes at least: those of its size. */
const LEAST_BYTES = 4;

/** The node ids of the elements of lists: each list of a sample has as many, whether it has so many elements or not. */
export class ElementNodes {
  /** How many ids a list has. */
  readonly each: number;
  /** The largest id. */
  readonly last: NodeId;
  /** What the last node that {@linkcode ElementNodes.enter} looked at is: the element of a list of a sample. */
  sample = 0;
  list = 0;
  number = 0;
  readonly #start: NodeId;
  readonly #lists: number;
  readonly #samples: number;

  /**
   * @param before The last id of other nodes.
   * @param samples How many samples there are.
   * @param lists How many lists those with most of them have.
   * @param bytes Those of the largest shard, which are more than any list's.
   * @param lastNode The largest id that there may be.
   */
  constructor(
    before: NodeId,
    samples: number,
    lists: number,
    bytes: number,
    lastNode: NodeId | undefined,
  ) {
    const all = samples * lists;
    const room = Math.max(0, (lastNode ?? Number.MAX_SAFE_INTEGER) - before);
    const most = Math.min(MOST, Math.ceil(bytes / LEAST_BYTES));
    this.each = all === 0 ? 0 : Math.min(most, Math.floor(room / all));
    this.#start = before + 1;
    this.#lists = lists;
    this.#samples = samples;
    this.last = before + all * this.each;
  }

  /** The node of an element. */
  node(sample: number, list: number, number: number): NodeId {
    return this.#start + (sample * this.#lists + list) * this.each + number;
  }

  /** Says which element a node would be, if there are so many; `false` if it is none. */
  enter(node: NodeId): boolean {
    const at = node - this.#start;
    if (!Number.isSafeInteger(at) || at < 0 || node > this.last) return false;
    const list = Math.floor(at / this.each);
    this.sample = Math.floor(list / this.#lists);
    this.list = list % this.#lists;
    this.number = at % this.each;
    return this.sample < this.#samples;
  }
}
