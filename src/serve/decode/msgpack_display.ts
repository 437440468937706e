import {
  type MsgpackHead,
  MsgpackReader,
} from "../../codecs/msgpack/read_msgpack.ts";
import type { DisplayLimits, Leaves, ShownTree } from "../api/display.ts";
import { type TreePart, WHOLE_TREE } from "../api/tree_part.ts";
import type { Display } from "../api/value_messages.ts";
import { cutTree, type TreeWalker } from "./cut_tree.ts";

/** Converts MessagePack for display. Validates all of it, but decodes only the part shown. */
export function shownMsgpack(
  bytes: Uint8Array,
  limits: DisplayLimits,
  part: TreePart = WHOLE_TREE,
): ShownTree | undefined {
  return cutTree(() => new MsgpackWalker(bytes), limits, part);
}

class MsgpackWalker implements TreeWalker {
  readonly #reader: MsgpackReader;
  /** Head of the next list or map, if already read. */
  #head: MsgpackHead | undefined;

  constructor(bytes: Uint8Array) {
    this.#reader = new MsgpackReader(bytes, false);
  }

  container(): "list" | "map" | undefined {
    this.#head ??= this.#reader.containerHead();
    if (this.#head === undefined) return undefined;
    return this.#head.isMap ? "map" : "list";
  }

  pass(end: number, visit: (index: number, isKey: boolean) => void): number {
    this.container();
    const { isMap, count } = this.#head!;
    this.#head = undefined;
    const visited = Math.min(count, end);
    for (let i = 0; i < visited; i++) {
      if (isMap) visit(i, true);
      visit(i, false);
    }
    this.#skip(isMap, count - visited);
    return count;
  }

  leaf(leaves: Leaves, from: number | undefined): Display {
    return leaves.value(this.#reader.value(), from);
  }

  skip(): void {
    if (this.#head === undefined) return this.#reader.skip();
    const { isMap, count } = this.#head;
    this.#head = undefined;
    this.#skip(isMap, count);
  }

  #skip(isMap: boolean, count: number): void {
    for (let left = isMap ? 2 * count : count; left > 0; left--) {
      this.#reader.skip();
    }
  }

  finish(): void {
    this.#reader.finish();
  }
}
