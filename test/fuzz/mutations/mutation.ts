import type { Dice } from "../dice.ts";
import type { Draft } from "../draft.ts";
import type { Original } from "../originals.ts";

/** A way to damage a container. */
export interface Mutation {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  /** Changes the draft, or does nothing if the mutation does not apply. */
  apply(draft: Draft, dice: Dice, stock: Stock): void;
}

/** Material for mutations. */
export interface Stock {
  readonly originals: readonly Original[];
}

/** Picks a non-empty file. Each suffix is equally likely, so that rare ones are picked as well. */
export function pickFile(draft: Draft, dice: Dice): string | undefined {
  const files = draft.files.filter((path) => draft.bytes(path).length > 0);
  const byEnding = Map.groupBy(files, endingOf);
  return byEnding.size === 0
    ? undefined
    : dice.pick(dice.pick([...byEnding.values()]));
}

/** Picks one of the files whose path matches a pattern. */
export function pickNamed(
  draft: Draft,
  dice: Dice,
  pattern: RegExp,
): string | undefined {
  const files = draft.files.filter((path) => pattern.test(path));
  return files.length === 0 ? undefined : dice.pick(files);
}

/** Returns the suffix of a path. `refs.bag` counts as a suffix of its own. */
function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name === "refs.bag" ? name : name.slice(name.lastIndexOf(".") + 1);
}

/** Encodes an integer in `width` bytes, truncating it if necessary. */
export function integerBytes(
  value: bigint,
  width: number,
  littleEndian: boolean,
): Uint8Array {
  const bytes = new Uint8Array(width);
  for (let i = 0; i < width; i++) {
    bytes[littleEndian ? i : width - 1 - i] = Number(
      BigInt.asUintN(64, value) >> BigInt(8 * i) & 0xffn,
    );
  }
  return bytes;
}

/** Returns numbers around the limits of integer types, of doubles, and of these sizes. */
export function limitsAround(...sizes: number[]): bigint[] {
  const near = [
    0n,
    1n,
    8n,
    1n << 31n,
    1n << 32n,
    1n << 53n,
    1n << 63n,
    1n << 64n,
  ]
    .concat(sizes.map(BigInt));
  return near.flatMap((value) => [value - 1n, value, value + 1n]);
}
