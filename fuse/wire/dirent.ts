import type { NodeId } from "../../src/tree/tree.ts";
import { EntryType } from "./flags.ts";

/** Offset of `name` in `struct fuse_dirent`: `FUSE_NAME_OFFSET`. */
const NAME_OFFSET = 24;

const NAME_WORD = NAME_OFFSET / 4;

/** Size of a `struct fuse_dirent` with a name of that length, including padding. */
export function direntSize(nameLength: number): number {
  return NAME_OFFSET + nameLength + 7 & ~7;
}

export function entryType(isDirectory: boolean, isLink: boolean): number {
  if (isDirectory) return EntryType.DIRECTORY;
  return isLink ? EntryType.LINK : EntryType.FILE;
}

/** Writes a `struct fuse_dirent` with its name, at a byte offset that is a multiple of 4. */
export function putDirent(
  words: Uint32Array,
  at: number,
  node: NodeId,
  next: number,
  type: number,
  name: Uint8Array,
  start: number,
  end: number,
): void {
  const word = at >>> 2;
  const past = at + direntSize(end - start) >>> 2;
  words[past - 2] = 0; // padding after the name
  words[past - 1] = 0;
  words[word] = node;
  words[word + 1] = node / 0x1_0000_0000;
  words[word + 2] = next;
  words[word + 3] = next / 0x1_0000_0000;
  words[word + 4] = end - start;
  words[word + 5] = type;
  putName(words, word + NAME_WORD, name, start, end);
}

/**
 * Copies bytes four at a time in little-endian order, that of every machine that Deno runs on. Names are too short
 * for TypedArray.set, which needs a view of each, to pay off.
 */
function putName(
  words: Uint32Array,
  to: number,
  name: Uint8Array,
  start: number,
  end: number,
): void {
  let word = to;
  let from = start;
  for (; from <= end - 4; from += 4) {
    words[word++] = name[from]! | name[from + 1]! << 8 |
      name[from + 2]! << 16 | name[from + 3]! << 24;
  }
  if (from === end) return;
  let rest = name[from]!;
  if (from + 1 < end) rest |= name[from + 1]! << 8;
  if (from + 2 < end) rest |= name[from + 2]! << 16;
  words[word] = rest;
}
