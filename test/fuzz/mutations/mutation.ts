import type { Dice } from "../dice.ts";
import type { Draft } from "../draft.ts";
import type { Original } from "../originals.ts";

/** A way to damage a container. */
export interface Mutation {
  readonly name: string;
  /** How often it is chosen, against others. */
  readonly weight: number;
  /** Changes the draft; does nothing where there is nothing that it fits. */
  apply(draft: Draft, dice: Dice, stock: Stock): void;
}

/** What else there is to take from. */
export interface Stock {
  readonly originals: readonly Original[];
}

/** Picks a file that is not empty: of each ending equally often, so that the many don't hide the few. */
export function pickFile(draft: Draft, dice: Dice): string | undefined {
  const files = draft.files.filter((path) => draft.bytes(path).length > 0);
  const byEnding = Map.groupBy(files, endingOf);
  return byEnding.size === 0
    ? undefined
    : dice.pick(dice.pick([...byEnding.values()]));
}

/** Picks one of the files that have an ending, or a name. */
export function pickNamed(
  draft: Draft,
  dice: Dice,
  pattern: RegExp,
): string | undefined {
  const files = draft.files.filter((path) => pattern.test(path));
  return files.length === 0 ? undefined : dice.pick(files);
}

/** What tells files of a kind: `refs.bag` is another kind than a key's bag. */
function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name === "refs.bag" ? name : name.slice(name.lastIndexOf(".") + 1);
}

/** A whole number in `width` bytes, cut where it does not fit. */
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

/** Numbers at which something ends: of types, of exact numbers, of what there is. */
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
