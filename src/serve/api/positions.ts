import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { NodeId, Tree } from "../../tree/tree.ts";

/** Directories whose numbers of entries are remembered. */
const REMEMBERED = 1000;

/**
 * Where entries stand in their directories. A cursor of a tree counts entries, so that any place is jumped to; how many
 * there are is found by asking whether there is something at a place, some forty times, and never by listing them.
 */
export class Positions {
  readonly #tree: Tree;
  readonly #counts = new Map<NodeId, number>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** How many entries a directory has. */
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

  /** The place of an entry in its directory, where nodes are in the order of entries; -1 where it is not found so. */
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
