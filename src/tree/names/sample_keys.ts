import {
  lastUpTo,
  sharedUint32,
  shareNumbers,
  type WholeNumbers,
} from "../shared_numbers.ts";
import { NumberedNames, widthFor } from "./numbered_names.ts";

/** Keys of the samples of a file, by which they are named: whole numbers, in memory that threads share. */
export type SampleKeys =
  /** The key of the first sample, if those of the others follow it. */
  | number
  | {
    /** Per sample: its key. */
    readonly keys: WholeNumbers;
    /** The samples in the order of their keys. */
    readonly order: Uint32Array;
  };

/** Makes the keys of samples; `undefined` if a key occurs twice, or the keys are the numbers of the samples. */
export function sampleKeys(keys: WholeNumbers): SampleKeys | undefined {
  const first = keys[0];
  if (first === undefined) return undefined;
  if (keys.every((key, i) => key === first + i)) return first || undefined;
  const order = sharedUint32(keys.length).map((_, i) => i)
    .sort((a, b) => keys[a]! - keys[b]!);
  const isTwice = order.some((sample, i) =>
    i > 0 && keys[sample] === keys[order[i - 1]!]
  );
  if (isTwice) return undefined;
  const below = keys[order.at(-1)!]! + 1;
  return {
    keys: shareNumbers(keys, below),
    order: sharedUint32(order),
  };
}

/** Returns the key of a sample. */
export function keyOf(keys: SampleKeys, sample: number): number {
  return typeof keys === "number" ? keys + sample : keys.keys[sample]!;
}

/** Names of samples that are their keys, padded to one width, so that they sort by key. */
export class KeyedNumbers extends NumberedNames {
  readonly #keys: SampleKeys;

  constructor(keys: SampleKeys, count: number, suffix: string) {
    const greatest = typeof keys === "number"
      ? keys + count - 1
      : keyOf(keys, keys.order.at(-1)!);
    super(widthFor(greatest + 1), suffix);
    this.#keys = keys;
  }

  override write(sample: number, into: Uint8Array): number {
    return super.write(keyOf(this.#keys, sample), into);
  }

  override parse(name: Uint8Array, start: number, end: number): number {
    const key = super.parse(name, start, end);
    const keys = this.#keys;
    if (key < 0) return -1;
    if (typeof keys === "number") return key - keys;
    const { order } = keys;
    const sample = order[lastUpTo(keys.keys, key, order.length, order)];
    return sample !== undefined && keys.keys[sample] === key ? sample : -1;
  }
}
