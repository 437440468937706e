import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { Turns } from "../../io/concurrency/turns.ts";
import { requireOpen } from "../../io/storage/closed.ts";
import { atOnce } from "../../tree/not_loaded.ts";
import { OpenPool } from "../../tree/open_pool.ts";
import type { NodeId } from "../../tree/tree.ts";
import type { LevelOptions, NestedLevel } from "./nested_level.ts";

/** Nested containers that are open at a time, in each thread. */
const MOST_OPEN = 32;

/** Nested containers that are known not to open, at most. */
const MOST_FAILURES = 1000;

/** The nested containers that one thread has open, by the ids of their roots. */
export class OpenLevels {
  readonly #path: string;
  readonly #options: LevelOptions;
  readonly #open: OpenPool<NestedLevel>;
  readonly #opening = new Turns();
  readonly #failures = new Map<NodeId, FormatError>();
  /** By id of the root: number of the range of source indices. */
  readonly #blocks = new Map<NodeId, number>();
  /** By that number: id of the root. */
  readonly #roots: NodeId[] = [0];
  #isClosed = false;

  /** @param path Path of the outermost container, for messages. */
  constructor(path: string, options: LevelOptions, most = MOST_OPEN) {
    this.#path = path;
    this.#options = options;
    this.#open = new OpenPool(most);
  }

  /** Notes that a level is used, and with it those that it is nested in. */
  touch(level: NestedLevel): void {
    for (let at = level; at.parent !== undefined; at = at.parent) {
      this.#open.touch(at);
    }
  }

  /** Returns the level of a range of source indices, if it is open. */
  peek(block: number): NestedLevel | undefined {
    return this.#open.get(this.rootOf(block));
  }

  /** Returns the id of the root of the level of a range of source indices. */
  rootOf(block: number): NodeId {
    return this.#roots[block]!;
  }

  close(): void {
    this.#isClosed = true;
    this.#open.dropAll();
  }

  /**
   * Returns a nested container; opens it if necessary.
   *
   * @throws {FormatError} If it is damaged, or has changed.
   * @throws {NotLoaded} If it must be opened asynchronously.
   */
  enter(level: NestedLevel, slot: number): NestedLevel {
    const root = level.slotRoot(slot);
    const open = this.#open.get(root);
    if (open !== undefined) return open;
    const failure = this.#failures.get(root);
    if (failure !== undefined) throw failure;
    requireOpen(this.#path, this.#isClosed);
    const made = () => this.#open.get(root);
    const load = () => this.#load(level, slot, root);
    const opening = () => this.#opening.run(root, made, load);
    return atOnce(level.slotPath(slot), opening)!; // what was found just now is open
  }

  /** Opens a nested container. Does nothing if what it lies in was evicted meanwhile: the caller finds that again. */
  *#load(
    level: NestedLevel,
    slot: number,
    root: NodeId,
  ): Steps<NestedLevel | undefined> {
    requireOpen(this.#path, this.#isClosed);
    if (level.isClosed) return undefined;
    holdLevel(level, 1);
    try {
      const block = this.#blockOf(root);
      const inner = yield* level.openSlot(slot, block, this.#options);
      if (this.#isClosed) inner.close();
      requireOpen(this.#path, this.#isClosed);
      this.#open.add(root, inner);
      this.#dropOrphans();
      return inner;
    } catch (error) {
      if (error instanceof FormatError) this.#noteFailure(root, error);
      throw error;
    } finally {
      holdLevel(level, -1);
    }
  }

  /** Closes what is nested in containers that were evicted. */
  #dropOrphans(): void {
    for (let isDone = false; !isDone;) {
      isDone = true;
      this.#open.dropAll(({ parent }) => {
        if (parent?.isClosed) isDone = false;
        return parent?.isClosed === true;
      });
    }
  }

  #noteFailure(root: NodeId, error: FormatError): void {
    if (this.#failures.size >= MOST_FAILURES) {
      const [oldest] = this.#failures.keys();
      this.#failures.delete(oldest!);
    }
    this.#failures.set(root, error);
  }

  #blockOf(root: NodeId): number {
    let block = this.#blocks.get(root);
    if (block === undefined) {
      block = this.#roots.push(root) - 1;
      this.#blocks.set(root, block);
    }
    return block;
  }
}

/** Counts a use of a level, and of those that it is nested in. */
export function holdLevel(level: NestedLevel, change: 1 | -1): void {
  for (let at: NestedLevel | undefined = level; at; at = at.parent) {
    at.users += change;
  }
}
