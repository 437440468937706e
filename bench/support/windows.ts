/**
 * Returns bytes in which every window differs: records that are cheap to make, yet all distinct.
 *
 * @param size Bytes of the largest window.
 * @param count Number of windows; they start at 0, 1, …
 */
export function windowedBytes(size: number, count: number): Uint8Array {
  const bytes = new Uint8Array(size + count);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(i, i) >> 7;
  return bytes;
}
