/** Mutations of Parquet: falsified numbers in footers and page headers. The messages stay valid. */
import { numbersIn, varint } from "../../support/parquet/thrift.ts";
import type { Dice } from "../dice.ts";
import { integerBytes, type Mutation, pickNamed } from "./mutation.ts";

const NAMED = /\.parquet$/;
const TAIL = 8;

/** Encoded 32-bit and 64-bit numbers: small, near the limits, and negative (odd). */
const LIES = [
  ...[0n, 1n, 2n, 3n, 16n, 255n, 256n, 65_536n, 2n ** 24n, 2n ** 31n],
  ...[2n ** 32n - 2n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 64n - 1n],
];

/** Replaces an encoded number. Later bytes move. */
function replaced(
  bytes: Uint8Array,
  at: number,
  length: number,
  by: readonly number[],
): Uint8Array {
  const made = new Uint8Array(bytes.length - length + by.length);
  made.set(bytes.subarray(0, at));
  made.set(by, at);
  made.set(bytes.subarray(at + length), at + by.length);
  return made;
}

function lieNear(dice: Dice, number: bigint): readonly number[] {
  const near = [number + 2n, number > 1n ? number - 2n : 1n, number * 2n];
  return varint(dice.pick([...LIES, ...near]));
}

function numberAt(bytes: Uint8Array, at: number, length: number): bigint {
  let value = 0n;
  for (let i = 0; i < length; i++) {
    value |= BigInt(bytes[at + i]! & 0x7f) << BigInt(7 * i);
  }
  return value;
}

/** Falsifies a number of the footer, and corrects the footer's length. */
const setFooter: Mutation = {
  name: "set number of a footer",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    let bytes = draft.bytes(path);
    const start = footerStart(bytes);
    if (start === undefined) return;
    const { numbers } = numbersIn(bytes.subarray(0, -TAIL), start);
    if (numbers.length === 0) return;
    const { at, length } = dice.pick(numbers);
    const by = lieNear(dice, numberAt(bytes, at, length));
    bytes = replaced(bytes, at, length, by);
    const size = bytes.length - TAIL - start;
    bytes.set(integerBytes(BigInt(size), 4, true), bytes.length - TAIL);
    draft.replace(path, bytes, "number of a footer");
  },
};

/** Inserts U+FEFF at the start of a text in the footer, and corrects the lengths. */
const markName: Mutation = {
  name: "put U+FEFF before a text of a footer",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    let bytes = draft.bytes(path);
    const start = footerStart(bytes);
    if (start === undefined) return;
    const { lengths } = numbersIn(bytes.subarray(0, -TAIL), start);
    if (lengths.length === 0) return;
    const { at, length } = dice.pick(lengths);
    const by = varint(numberAt(bytes, at, length) + 3n);
    bytes = replaced(bytes, at, length, [...by, 0xef, 0xbb, 0xbf]);
    const size = bytes.length - TAIL - start;
    bytes.set(integerBytes(BigInt(size), 4, true), bytes.length - TAIL);
    draft.replace(path, bytes, "text of a footer");
  },
};

/** Falsifies a number in a page header, keeping its encoded length, so that later bytes stay at their offsets. */
const setHeader: Mutation = {
  name: "set number of a page",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const end = footerStart(bytes) ?? 0;
    const starts = headers(bytes, end);
    if (starts.length === 0) return;
    const { numbers } = numbersIn(bytes, dice.pick(starts));
    if (numbers.length === 0) return;
    const { at, length } = dice.pick(numbers);
    const by = [...lieNear(dice, numberAt(bytes, at, length))];
    // Truncated or padded to the old length.
    while (by.length < length) {
      by[by.length - 1]! |= 0x80;
      by.push(0);
    }
    const fit = by.slice(0, length);
    fit[length - 1]! &= 0x7f;
    draft.overwrite(path, at, Uint8Array.from(fit), "header of a page");
  },
};

export const PARQUET_MUTATIONS: readonly Mutation[] = [
  setFooter,
  setHeader,
  markName,
];

function footerStart(bytes: Uint8Array): number | undefined {
  if (bytes.length < 12) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = bytes.length - TAIL - view.getUint32(bytes.length - TAIL, true);
  return start >= 4 ? start : undefined;
}

/** Returns the probable offsets of page headers: each is followed by its page. */
function headers(bytes: Uint8Array, end: number): number[] {
  const starts: number[] = [];
  for (let at = 4; at < end;) {
    const { numbers, end: past } = numbersIn(bytes, at);
    const size = numbers[2];
    if (past < 0 || size === undefined) break;
    const length = Number(numberAt(bytes, size.at, size.length) / 2n);
    if (past + length > end) break;
    starts.push(at);
    at = past + length;
  }
  return starts;
}
