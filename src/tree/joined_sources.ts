import type { ByteSource } from "../io/storage/byte_source.ts";
import {
  areOpen,
  type LazySources,
  type SeveralSources,
  type Tree,
} from "./tree.ts";

/**
 * Sources of several trees, some of which open theirs when they are asked for. Those that are open come first, tree
 * by tree; behind them, the others' take turns, so that nobody needs to know how many each has.
 */
export class JoinedSources implements SeveralSources {
  readonly opened: readonly ByteSource[];
  readonly lazy: readonly LazySources[];
  readonly #openedCount: number;

  /**
   * @param openedCount How many indices are those of open sources.
   * @param opened These; or none, in a thread that is told of them otherwise.
   */
  constructor(
    openedCount: number,
    opened: readonly ByteSource[],
    lazy: readonly LazySources[],
  ) {
    this.opened = opened;
    this.lazy = lazy;
    this.#openedCount = openedCount;
  }

  get knownBytes(): number {
    return this.lazy.reduce((sum, { knownBytes }) => sum + knownBytes, 0);
  }

  at(index: number): ByteSource | undefined {
    const behind = index - this.#openedCount;
    if (behind < 0) return this.opened[index];
    const lists = this.lazy.length;
    return this.lazy[behind % lists]!.at(Math.floor(behind / lists));
  }
}

/** Those sources of a tree that are open from the start; their indices come first. */
export function openedSources(sources: Tree["sources"]): readonly ByteSource[] {
  if (areOpen(sources)) return sources;
  return "lazy" in sources ? sources.opened : [];
}

/** The lists of those that are opened when they are asked for. */
export function lazySources(sources: Tree["sources"]): readonly LazySources[] {
  if (areOpen(sources)) return [];
  return "lazy" in sources ? sources.lazy : [sources];
}
