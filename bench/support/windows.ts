/**
 * Bytes of which every window is another: records that are cheap to make, yet no two of which are
 * equal.
 *
 * @param size Bytes of the largest window.
 * @param count How many windows there are; they start at 0, 1, …
 */
export function windowedBytes(size: number, count: number): Uint8Array {
  const bytes = new Uint8Array(size + count);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(i, i) >> 7;
  return bytes;
}
