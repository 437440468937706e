import type { NodeId } from "../tree.ts";

/** Maximum number of elements of a list shown as a directory. */
const MOST = 1 << 20;
/** Minimum bytes per element: its size. */
const LEAST_BYTES = 4;

/** Node ids of list elements. Each list of a sample gets the same number of ids, whatever its length. */
export class ElementNodes {
  readonly each: number;
  readonly last: NodeId;
  /** Result of {@linkcode ElementNodes.enter}: sample, list and element number. */
  sample = 0;
  list = 0;
  number = 0;
  readonly #start: NodeId;
  readonly #lists: number;
  readonly #samples: number;

  /**
   * @param before Last id of other nodes.
   * @param lists Largest number of lists in a sample.
   * @param bytes Size of the largest shard, an upper bound for any list.
   * @param lastNode Largest allowed id.
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

  node(sample: number, list: number, number: number): NodeId {
    return this.#start + (sample * this.#lists + list) * this.each + number;
  }

  /** Finds the element with a node id, which exists if its list is that long; returns `false` for other ids. */
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
