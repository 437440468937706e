import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
} from "../../codecs/msgpack/mod.ts";
import { isNdArray } from "../../codecs/numpy/array_bytes.ts";
import {
  type DisplayLimits,
  type Leaves,
  mark,
  type ShownTree,
} from "../api/display.ts";
import type { TreePart } from "../api/tree_part.ts";
import type { Display } from "../api/value_messages.ts";
import { cutTree, type TreeWalker } from "./cut_tree.ts";

/** Converts a decoded value, such as a pickle's, for display. */
export function shownObject(
  value: unknown,
  limits: DisplayLimits,
  part: TreePart,
): ShownTree | undefined {
  return cutTree(() => new ObjectWalker(value), limits, part);
}

interface Sized {
  readonly length?: number;
  readonly size?: number;
}

class ObjectWalker implements TreeWalker {
  #next: unknown;
  /** Containers of the next value: a pickle can contain itself. */
  readonly #above = new Set<unknown>();

  constructor(value: unknown) {
    this.#next = value;
  }

  container(): "list" | "map" | undefined {
    const value = this.#next;
    if (!hasEntries(value) || this.#above.has(value)) return undefined;
    return Array.isArray(value) || value instanceof Set ? "list" : "map";
  }

  pass(end: number, visit: (index: number, isKey: boolean) => void): number {
    const value = this.#next as object;
    const isList = Array.isArray(value) || value instanceof Set;
    const entries: Iterable<unknown> & Sized = isList || value instanceof Map
      ? value
      : Object.entries(value);
    this.#above.add(value);
    let index = 0;
    for (const entry of entries) {
      if (index >= end) break;
      const [key, item] = isList ? [undefined, entry] : entry as unknown[];
      if (!isList) {
        this.#next = key;
        visit(index, true);
      }
      this.#next = item;
      visit(index++, false);
    }
    this.#above.delete(value);
    return entries.length ?? entries.size!;
  }

  leaf(leaves: Leaves, from: number | undefined): Display {
    if (!hasEntries(this.#next)) return leaves.value(this.#next, from);
    leaves.isCut = true;
    return mark({ $: "deep" });
  }

  skip(): void {}

  finish(): void {}
}

function hasEntries(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const isLeaf = value instanceof Uint8Array || value instanceof MsgpackExt ||
    value instanceof MsgpackFloat || value instanceof MsgpackTimestamp ||
    isNdArray(value);
  return !isLeaf;
}
