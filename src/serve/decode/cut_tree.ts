/**
 * Truncation of value trees. Proceeds breadth first: the top levels come before the depths of the first branch, and no
 * branch uses up the room of the others.
 *
 * @module
 */
import { objectKeepsOrder } from "../../codecs/msgpack/value.ts";
import {
  type DisplayLimits,
  Leaves,
  mark,
  markerOf,
  shownKey,
  type ShownTree,
} from "../api/display.ts";
import type { TreePart } from "../api/tree_part.ts";
import type { Display } from "../api/value_messages.ts";

/** Single forward pass over the values of a tree, from the root. */
export interface TreeWalker {
  /** Returns the type of the next value; `undefined` if it has no entries. */
  container(): "list" | "map" | undefined;
  /**
   * Passes the next list or map, and returns its number of entries. `visit` must pass one value: the key of an entry
   * (maps only), or its value. Entries from `end` on are skipped.
   */
  pass(end: number, visit: (index: number, isKey: boolean) => void): number;
  /** Passes a value without entries, and returns it; `from` as in {@linkcode Leaves.value}. */
  leaf(leaves: Leaves, from: number | undefined): Display;
  skip(): void;
  /** Fails if anything follows the root. */
  finish(): void;
}

/**
 * Returns a part of a tree in display form; `undefined` if there is no such part.
 *
 * @param start Starts a pass over the tree; called twice.
 * @throws If any part of the tree is invalid.
 */
export function cutTree(
  start: () => TreeWalker,
  limits: DisplayLimits,
  part: TreePart,
): ShownTree | undefined {
  const plan = new Plan(limits);
  const measuring = start();
  const isThere = visitPart(
    measuring,
    part.path,
    () => plan.measure(measuring, 0, part.from),
  );
  measuring.finish();
  if (!isThere) return undefined;
  const showing = new Showing(start(), plan, limits);
  visitPart(showing.walker, part.path, () => showing.show(part));
  return showing;
}

/** Passes a tree, and visits the value at a path. Returns whether it exists. */
function visitPart(
  walker: TreeWalker,
  path: TreePart["path"],
  visit: () => void,
): boolean {
  const [step, ...rest] = path;
  if (step === undefined) {
    visit();
    return true;
  }
  if (walker.container() === undefined) {
    walker.skip();
    return false;
  }
  let isThere = false;
  walker.pass(step.index + 1, (index, isKey) => {
    if (index === step.index && isKey === step.isKey) {
      isThere = visitPart(walker, rest, visit);
    } else walker.skip();
  });
  return isThere;
}

/** Entries to show by depth: all down to some depth, and an equal share of each container at the next. */
class Plan {
  readonly #limits: DisplayLimits;
  /** Numbers of values, and of lists and maps among them, by depth. */
  readonly #values: number[];
  readonly #containers: number[];
  /** The first depth that is not shown in full, and the number of values above it. */
  #depth: number;
  #above = 0;

  constructor(limits: DisplayLimits) {
    this.#limits = limits;
    this.#depth = limits.depth;
    this.#values = new Array(limits.depth + 1).fill(0);
    this.#containers = new Array(limits.depth + 1).fill(0);
  }

  /** Counts a value and its descendants, as far as they may be shown. */
  measure(walker: TreeWalker, depth: number, from: number): void {
    if (depth > this.#depth) return walker.skip();
    this.#values[depth]!++;
    if (depth === this.#depth) return walker.skip();
    this.#above++;
    while (this.#above > this.#limits.values) {
      this.#above -= this.#values[--this.#depth]!;
    }
    if (depth >= this.#depth || walker.container() === undefined) {
      return walker.skip();
    }
    this.#containers[depth]!++;
    const end = from + this.#limits.entries;
    walker.pass(end, (index, isKey) => {
      const isOut = index < from || depth >= this.#depth;
      // A text key shares the line of its value.
      if (isOut || isKey && walker.container() === undefined) walker.skip();
      else this.measure(walker, depth + 1, 0);
    });
  }

  entriesAt(depth: number): number {
    if (depth >= this.#depth) return 0;
    const { entries, values } = this.#limits;
    if (depth + 1 < this.#depth) return entries;
    const left = values - this.#above;
    if (this.#values[this.#depth]! <= left) return entries;
    return Math.min(entries, Math.floor(left / this.#containers[depth]!));
  }
}

class Showing implements ShownTree {
  readonly walker: TreeWalker;
  value: Display = null;
  readonly #plan: Plan;
  readonly #leaves: Leaves;
  #isCut = false;

  constructor(walker: TreeWalker, plan: Plan, limits: DisplayLimits) {
    this.walker = walker;
    this.#plan = plan;
    this.#leaves = new Leaves(limits);
  }

  get isCut(): boolean {
    return this.#isCut || this.#leaves.isCut;
  }

  show({ path, from }: TreePart): void {
    const isRoot = path.length === 0 && from === 0;
    this.value = this.walker.container() === undefined
      ? this.walker.leaf(this.#leaves, isRoot ? undefined : from)
      : this.#container(0, from);
  }

  #value(depth: number): Display {
    return this.walker.container() === undefined
      ? this.walker.leaf(this.#leaves, undefined)
      : this.#container(depth, 0);
  }

  #container(depth: number, from: number): Display {
    const { walker } = this;
    const isList = walker.container() === "list";
    const end = from + this.#plan.entriesAt(depth);
    const keys: Display[] = [];
    const values: Display[] = [];
    const length = walker.pass(end, (index, isKey) => {
      if (index < from) walker.skip();
      else (isKey ? keys : values).push(this.#value(depth + 1));
    });
    const shown = isList ? values : mapOf(keys, values);
    if (values.length === length) return shown;
    this.#isCut = true;
    return mark({ $: "cut", shown, length });
  }
}

/** Returns an object if all keys are distinct texts in an order that JavaScript objects preserve; else pairs. */
function mapOf(keys: readonly Display[], values: readonly Display[]): Display {
  const isPlain = objectKeepsOrder(keys) &&
    new Set(keys).size === keys.length;
  if (isPlain) {
    // Accepts `__proto__` as a key.
    return Object.fromEntries(
      keys.map((key, i) => [shownKey(key), values[i]!]),
    );
  }
  const pairs = keys.map((key, i) => [key, values[i]!]);
  return mark({ $: keys.every(isText) ? "object" : "map", pairs });
}

function isText(key: Display): boolean {
  if (typeof key === "string") return true;
  const marker = markerOf(key);
  return marker?.$ === "cut" && typeof marker.shown === "string";
}
