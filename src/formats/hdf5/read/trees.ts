import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Cursor, Metadata } from "./metadata.ts";

/** Levels of a tree, at most. */
const MOST_LEVELS = 32;

/** Calls with each entry of the leaves of a B-tree of version 1 (III.A.1), in order: its key, and the address of its child. */
export function* walkTree(
  metadata: Metadata,
  root: number,
  type: number,
  keySize: number,
  visit: (key: Cursor, child: number) => void,
): Steps<void> {
  const { offsetSize } = metadata;
  const start = 8 + 2 * offsetSize;
  const waiting: [address: number, level: number][] = [[root, MOST_LEVELS]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [address, above] = next;
    const head = yield* metadata.part(address, start);
    head.at = 4;
    const isType = head.u8() === type;
    const level = head.u8();
    const count = head.u16();
    // A circle would not go down.
    const isSound = isType &&
      (above === MOST_LEVELS ? level < above : level === above - 1);
    if (!isSound) throw new CellFault("has a B-tree of a wrong form");
    const length = start + count * (keySize + offsetSize) + keySize;
    const node = yield* metadata.part(address, length);
    node.expect("TREE");
    node.at = start;
    const children: [number, number][] = [];
    for (let i = 0; i < count; i++) {
      const key = node.cursor(keySize);
      const child = node.offset();
      if (level === 0) visit(key, child);
      else children.push([child, level]);
    }
    waiting.push(...children.reverse());
  }
}

/** Bytes of a node of version 2 without its records: signature, version, type and checksum. */
const NODE = 10;

/** Calls with each record of a B-tree of version 2 (III.A.2). */
export function* walkTree2(
  metadata: Metadata,
  address: number,
  visit: (record: Cursor) => void,
): Steps<void> {
  const { offsetSize, lengthSize } = metadata;
  const length = 22 + offsetSize + lengthSize;
  const head = yield* metadata.sealed(address, length, "BTHD");
  const nodeSize = head.skip(1).u32();
  const recordSize = head.u16();
  const depth = head.u16();
  const root = head.skip(2).offset();
  const rootCount = head.u16();
  if (rootCount === 0) return;
  if (depth > MOST_LEVELS || recordSize === 0) {
    throw new CellFault("has a B-tree of a wrong form");
  }
  // Per level, from the leaves up: bytes of the number of all records below.
  const most = Math.floor((nodeSize - NODE) / recordSize);
  const countSize = sizeOfNumber(most);
  const totalSizes = [0];
  let total = most;
  for (let level = 1; level <= depth; level++) {
    const pointer = offsetSize + countSize + totalSizes[level - 1]!;
    const own = Math.floor(
      (nodeSize - NODE - pointer) / (recordSize + pointer),
    );
    total = (own + 1) * total + own;
    totalSizes.push(sizeOfNumber(total));
  }
  const waiting = [[root, rootCount, depth] as const];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [address, count, level] = next;
    const pointer = level === 0
      ? 0
      : offsetSize + countSize + totalSizes[level - 1]!;
    const node = yield* metadata.sealed(
      address,
      NODE + count * recordSize + (level === 0 ? 0 : (count + 1) * pointer),
      level === 0 ? "BTLF" : "BTIN",
    );
    node.at = 6;
    for (let i = 0; i < count; i++) visit(node.cursor(recordSize));
    for (let i = 0; level > 0 && i <= count; i++) {
      const child = node.offset();
      const records = node.uint(countSize);
      node.skip(totalSizes[level - 1]!);
      waiting.push([child, records, level - 1]);
    }
  }
}

/** Returns the bytes that a number up to `most` takes. */
export function sizeOfNumber(most: number): number {
  return Math.floor(Math.log2(Math.max(1, most)) / 8) + 1;
}
