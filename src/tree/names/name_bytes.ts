/**
 * Inspects bytes of names, four at a time: names are most of what is read of a large container.
 *
 * @module
 */

const SLASHES = 0x2f2f2f2f;

/** Returns the length of the common prefix of two names, of at most `most` bytes. */
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

/** Returns all bytes of a range or-ed, or -1 if a slash or NUL is among them. */
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

function hasZero(word: number): boolean {
  return (word - 0x0101_0101 & ~word & 0x8080_8080) !== 0;
}
