/** Ranges of an array's numbers, fetched when drawn. */
import type { ArrayPart, ValueMessage } from "../../api/value_messages.ts";
import { hold } from "../listing/source.ts";

export const MOST_DRAWN = 1 << 22;

const MOST_HELD = 4;

/** Requests the part of an array from an element on. */
export type AskPart = (start: number) => Promise<ValueMessage>;

export type Numbers = Uint8Array | Float32Array | Float64Array;

const TYPES = {
  uint8: Uint8Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export class ArrayParts {
  readonly #ask: AskPart;
  readonly #held = new Map<number, Promise<Numbers>>();

  constructor(ask: AskPart) {
    this.#ask = ask;
  }

  load(start: number, length: number): Promise<Numbers> {
    const loading = this.#held.get(start) ?? this.#load(start, length);
    hold(this.#held, start, loading, MOST_HELD);
    loading.catch(() => this.#held.delete(start));
    return loading;
  }

  async #load(start: number, length: number): Promise<Numbers> {
    let all: Numbers | undefined;
    for (let done = 0; done < length;) {
      const value = await this.#ask(start + done);
      if (value.kind !== "array-part") throw new TypeError(whyOf(value));
      const numbers = numbersIn(value);
      all ??= new TYPES[value.type](length);
      const some = numbers.subarray(0, length - done);
      if (some.length === 0) throw new TypeError("The array is cut.");
      all.set(some, done);
      done += some.length;
    }
    return all!;
  }
}

function numbersIn({ base64, type }: ArrayPart): Numbers {
  const { buffer } = Uint8Array.fromBase64(base64);
  return new TYPES[type](buffer);
}

function whyOf(value: ValueMessage): string {
  const why = "why" in value ? value.why : null;
  return why ?? "The server sends no part of the array.";
}
