import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { NodeId, Tree } from "../../tree/tree.ts";

/** Maximum number of directories whose entry counts are cached. */
const REMEMBERED = 1000;

/**
 * Positions of entries in their directories. Tree cursors count entries, so any index can be read directly. The number
 * of entries is found by binary search, in some forty look-ups, without listing them.
 */
export class Positions {
  readonly #tree: Tree;
  readonly #counts = new Map<NodeId, number>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  *count(directory: NodeId): Steps<number> {
    const known = this.#counts.get(directory);
    if (known !== undefined) return known;
    let past = 1;
    while (yield* this.#hasAt(directory, past - 1)) past *= 2;
    let count = Math.floor(past / 2);
    for (let high = past - 1; count < high;) {
      const middle = Math.floor((count + high) / 2);
      if (yield* this.#hasAt(directory, middle)) count = middle + 1;
      else high = middle;
    }
    if (this.#counts.size === REMEMBERED) this.#counts.clear();
    this.#counts.set(directory, count);
    return count;
  }

  /** Returns an entry's index by binary search; -1 if not found because nodes are not in the order of entries. */
  *indexOf(directory: NodeId, node: NodeId): Steps<number> {
    let low = 0;
    for (let high = yield* this.count(directory); low < high;) {
      const middle = Math.floor((low + high) / 2);
      if ((yield* this.#nodeAt(directory, middle)) < node) low = middle + 1;
      else high = middle;
    }
    return (yield* this.#nodeAt(directory, low)) === node ? low : -1;
  }

  *#hasAt(directory: NodeId, index: number): Steps<boolean> {
    return (yield* this.#nodeAt(directory, index)) !== 0;
  }

  *#nodeAt(directory: NodeId, index: number): Steps<NodeId> {
    let found = 0;
    yield* whenLoaded(() =>
      this.#tree.list(directory, index, (_name, _start, _end, node) => {
        found = node;
        return false;
      })
    );
    return found;
  }
}
