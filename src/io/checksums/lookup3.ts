/**
 * Returns Bob Jenkins's hash `hashlittle` of bytes, with 0 as its start (burtleburtle.net/bob/c/lookup3.c, public
 * domain).
 */
export function lookup3(bytes: Uint8Array): number {
  const { length } = bytes;
  const last = Math.max(0, Math.ceil(length / 12) - 1) * 12;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let a = 0xdeadbeef + length | 0;
  let b = a;
  let c = a;
  for (let at = 0; at < last; at += 12) {
    a = a + view.getUint32(at, true) | 0;
    b = b + view.getUint32(at + 4, true) | 0;
    c = c + view.getUint32(at + 8, true) | 0;
    a = (a - c ^ rotated(c, 4)) | 0;
    c = c + b | 0;
    b = (b - a ^ rotated(a, 6)) | 0;
    a = a + c | 0;
    c = (c - b ^ rotated(b, 8)) | 0;
    b = b + a | 0;
    a = (a - c ^ rotated(c, 16)) | 0;
    c = c + b | 0;
    b = (b - a ^ rotated(a, 19)) | 0;
    a = a + c | 0;
    c = (c - b ^ rotated(b, 4)) | 0;
    b = b + a | 0;
  }
  if (length === 0) return c >>> 0;
  const tail = new Uint8Array(12);
  tail.set(bytes.subarray(last));
  const rest = new DataView(tail.buffer);
  a = a + rest.getUint32(0, true) | 0;
  b = b + rest.getUint32(4, true) | 0;
  c = c + rest.getUint32(8, true) | 0;
  c = (c ^ b) - rotated(b, 14) | 0;
  a = (a ^ c) - rotated(c, 11) | 0;
  b = (b ^ a) - rotated(a, 25) | 0;
  c = (c ^ b) - rotated(b, 16) | 0;
  a = (a ^ c) - rotated(c, 4) | 0;
  b = (b ^ a) - rotated(a, 14) | 0;
  c = (c ^ b) - rotated(b, 24) | 0;
  return c >>> 0;
}

function rotated(word: number, bits: number): number {
  return word << bits | word >>> (32 - bits);
}
