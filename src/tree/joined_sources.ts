import type { ByteSource } from "../io/storage/byte_source.ts";
import {
  areOpen,
  type LazySources,
  type SeveralSources,
  type Tree,
} from "./tree.ts";

/**
 * Sources of several trees: open ones first, in tree order; then lazy lists, interleaved so that their lengths need not
 * be known.
 */
export class JoinedSources implements SeveralSources {
  readonly opened: readonly ByteSource[];
  readonly lazy: readonly LazySources[];
  readonly #openedCount: number;

  /**
   * @param opened The open sources; empty in a thread that has them elsewhere, though they have `openedCount` indices.
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

/** Returns the sources of a tree that are open from the start; their indices come first. */
export function openedSources(sources: Tree["sources"]): readonly ByteSource[] {
  if (areOpen(sources)) return sources;
  return "lazy" in sources ? sources.opened : [];
}

export function lazySources(sources: Tree["sources"]): readonly LazySources[] {
  if (areOpen(sources)) return [];
  return "lazy" in sources ? sources.lazy : [sources];
}
