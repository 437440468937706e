/**
 * What there is to know of names' bytes before they become a table, four bytes at a time, since
 * names are most of what a large container has to be looked at for.
 *
 * @module
 */

/** Four slashes in a word. */
const SLASHES = 0x2f2f2f2f;

/** Number of bytes that two names begin with in common, of `most` that are compared. */
export function sharedBytes(
  names: DataView,
  a: number,
  b: number,
  most: number,
): number {
  let shared = 0;
  while (
    shared <= most - 4 &&
    names.getInt32(a + shared, true) === names.getInt32(b + shared, true)
  ) shared += 4;
  while (
    shared < most && names.getUint8(a + shared) === names.getUint8(b + shared)
  ) shared++;
  return shared;
}

/** All bytes of a stretch or-ed, or -1 where a slash or NUL is among them. */
export function bitsOf(names: DataView, from: number, to: number): number {
  let words = 0;
  let at = from;
  for (; at <= to - 4; at += 4) {
    const word = names.getInt32(at, true);
    if (hasZero(word) || hasZero(word ^ SLASHES)) return -1;
    words |= word;
  }
  let bits = words | words >>> 16;
  bits = (bits | bits >>> 8) & 0xff;
  for (; at < to; at++) {
    const byte = names.getUint8(at);
    if (byte === 0x2f || byte === 0) return -1;
    bits |= byte;
  }
  return bits;
}

/** Tells whether one of a word's four bytes is 0. */
function hasZero(word: number): boolean {
  return (word - 0x0101_0101 & ~word & 0x8080_8080) !== 0;
}
