import {
  type MsgpackHead,
  MsgpackReader,
} from "../../codecs/msgpack/read_msgpack.ts";
import {
  Displayed,
  type DisplayLimits,
  mark,
  shownKey,
  type ShownTree,
} from "../api/display.ts";
import type { Display } from "../api/value_messages.ts";

/**
 * A value of MessagePack for display: its structure is checked to its end, and only what is shown of it is made.
 *
 * @throws {MsgpackError} If it is damaged.
 */
export function shownMsgpack(
  bytes: Uint8Array,
  limits: DisplayLimits,
): ShownTree {
  return new Shown(bytes, limits).read();
}

class Shown {
  readonly #reader: MsgpackReader;
  readonly #limits: DisplayLimits;
  #left: number;
  #depth = 0;
  #isCut = false;

  constructor(bytes: Uint8Array, limits: DisplayLimits) {
    this.#reader = new MsgpackReader(bytes, false);
    this.#limits = limits;
    this.#left = limits.values;
  }

  read(): ShownTree {
    const value = this.#value();
    this.#reader.finish();
    return { value, isCut: this.#isCut };
  }

  #value(): Display {
    const head = this.#reader.containerHead();
    return head === undefined
      ? this.#scalar(this.#reader.value())
      : this.#container(head);
  }

  #scalar(made: unknown): Display {
    this.#left--;
    const { value, isCut } = new Displayed(made, this.#limits);
    if (isCut) this.#isCut = true;
    return value;
  }

  #container({ isMap, count }: MsgpackHead): Display {
    this.#left--;
    if (this.#depth >= this.#limits.depth) {
      this.#skip(isMap ? 2 * count : count);
      this.#isCut = true;
      return mark({ $: "deep" });
    }
    this.#depth++;
    const shown = isMap ? this.#map(count) : this.#list(count);
    this.#depth--;
    return shown;
  }

  #list(count: number): Display {
    const shown: Display[] = [];
    while (shown.length < count && this.#left > 0) shown.push(this.#value());
    this.#skip(count - shown.length);
    return this.#cut(shown, shown.length, count);
  }

  #map(count: number): Display {
    const reader = this.#reader;
    const keys: string[] = [];
    const pairs: [Display, Display][] = [];
    while (pairs.length < count && this.#left > 0) {
      const head = reader.containerHead();
      const made = head === undefined ? reader.value() : undefined;
      if (typeof made === "string") keys.push(made);
      const key = head === undefined
        ? this.#scalar(made)
        : this.#container(head);
      pairs.push([key, this.#value()]);
    }
    this.#skip(2 * (count - pairs.length));
    const areTexts = keys.length === pairs.length;
    const shown: Display = areTexts
      ? Object.fromEntries(
        pairs.map(([, value], i) => [shownKey(keys[i]!, this.#limits), value]),
      )
      : mark({ $: "map", pairs });
    return this.#cut(shown, pairs.length, count);
  }

  #skip(values: number): void {
    for (let i = 0; i < values; i++) this.#reader.skip();
  }

  #cut(shown: Display, count: number, length: number): Display {
    if (count === length) return shown;
    this.#isCut = true;
    return mark({ $: "cut", shown, length });
  }
}
