import { RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { Reading } from "../../tree/directory_tree.ts";
import { lazySources, openedSources } from "../../tree/joined_sources.ts";
import { LateSource } from "../../tree/late_source.ts";
import { LruCache } from "../../io/block_cache/lru_cache.ts";
import type { LazySources, SeveralSources } from "../../tree/tree.ts";
import type { NestedLevel } from "./nested_level.ts";

/** Source indices of each nested container. */
const SOURCES_OF_LEVEL = 2 ** 30;

/** Sources of nested containers that are remembered. */
const MOST_REMEMBERED = 1 << 15;

/** How sources find the open levels that they belong to. */
export interface LevelAccess {
  /** Opens a level; the caller ends the use. */
  lend(block: number): Steps<{ readonly level: NestedLevel; end(): void }>;
  peek(block: number): NestedLevel | undefined;
  /** Returns a level at once; opens it if that is possible. */
  at(block: number): NestedLevel;
}

/**
 * Sources of a tree and of the containers nested in it: first those of the outermost tree, then, in a range of their own,
 * those of each container that was opened, in the order in which this thread has opened them.
 */
export class NestedSources implements SeveralSources {
  readonly opened: readonly ByteSource[];
  readonly lazy: readonly [SourcesInside];
  /** Number of the outermost tree's open sources, also in a thread that has them elsewhere. */
  readonly #openedCount: number;

  constructor(
    root: NestedLevel,
    openedCount: number,
    reading: Reading,
    levels: LevelAccess,
  ) {
    this.#openedCount = openedCount;
    this.opened = openedSources(root.tree.sources);
    this.lazy = [new SourcesInside(root, openedCount, reading, levels)];
  }

  get knownBytes(): number {
    return this.lazy[0].knownBytes;
  }

  at(index: number): ByteSource | undefined {
    const behind = index - this.#openedCount;
    return behind < 0 ? this.opened[index] : this.lazy[0].at(behind);
  }

  /** Makes sure that a source of a level that is open can be read later without waiting for that to be opened again. */
  remember(index: number): void {
    const behind = index - this.#openedCount;
    if (behind >= SOURCES_OF_LEVEL) this.lazy[0].remember(behind);
  }

  /** Returns the index of a source of a level. */
  indexOf({ block }: NestedLevel, source: number): number {
    if (block === 0) return source;
    if (source < SOURCES_OF_LEVEL) {
      return this.#openedCount + block * SOURCES_OF_LEVEL + source;
    }
    const { path } = this.lazy[0];
    throw new RecordfsError(
      "too-large",
      `Cannot read a container in ${path}: it has more than ${SOURCES_OF_LEVEL} parts. Open it by itself`,
      { path, expected: SOURCES_OF_LEVEL },
    );
  }
}

/** All sources that are not open from the start. */
class SourcesInside implements LazySources {
  readonly #root: NestedLevel;
  readonly #openedCount: number;
  readonly #reading: Reading;
  readonly #levels: LevelAccess;
  /** Sources that open themselves: a caller may have located a content in a container that was evicted since. */
  readonly #late = new LruCache<LateSource>(MOST_REMEMBERED);

  constructor(
    root: NestedLevel,
    openedCount: number,
    reading: Reading,
    levels: LevelAccess,
  ) {
    this.#root = root;
    this.#openedCount = openedCount;
    this.#reading = reading;
    this.#levels = levels;
  }

  get path(): string {
    return this.#root.path;
  }

  get storage(): Storage {
    return this.#root.storage;
  }

  get knownBytes(): number {
    const lists = lazySources(this.#root.tree.sources);
    return lists.reduce((sum, { knownBytes }) => sum + knownBytes, 0);
  }

  at(index: number): ByteSource | undefined {
    const block = Math.floor(index / SOURCES_OF_LEVEL);
    const source = index % SOURCES_OF_LEVEL;
    if (block === 0) {
      return this.#root.tree.sources.at(this.#openedCount + source);
    }
    if (this.#reading === "mapped") {
      return this.#levels.at(block).tree.sources.at(source);
    }
    let late = this.#late.get(index);
    if (late === undefined) {
      late = this.#lateAt(block, source);
      if (late !== undefined) this.#late.set(index, late, 1);
    }
    return late;
  }

  /** Makes the late source of an index while its level is open. */
  remember(index: number): void {
    if (this.#reading === "late") this.at(index);
  }

  #lateAt(block: number, index: number): LateSource | undefined {
    const levels = this.#levels;
    const like = levels.at(block).tree.sources.at(index);
    if (like === undefined) return undefined;
    const { name, size, mtime, readAtSync } = like;
    const facts = { name, size, mtime, isLocal: readAtSync !== undefined };
    return new LateSource(facts, {
      *lend() {
        const { level, end } = yield* levels.lend(block);
        return { source: level.tree.sources.at(index)!, end };
      },
      peek: () => levels.peek(block)?.tree.sources.at(index),
    }, like);
  }
}
