/** Up to this length, bytes share a buffer. */
const SMALL = 4 * 1024;
/** Length of such a buffer: whoever keeps one small value keeps no more than this. */
const SHARED = 16 * 1024;

let shared = new ArrayBuffer(0);
let used = 0;

/**
 * New bytes for a caller to keep. Small ones are neighbours in one buffer, as Node's small `Buffer`s
 * are: a buffer of its own takes a microsecond, longer than reading into it.
 *
 * They start at a multiple of 8, so that any number may lie there.
 *
 * @param length How many; they may hold anything.
 */
export function ownBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length > SMALL) return new Uint8Array(length);
  if (used + length > shared.byteLength) { // also where it went to another thread: it has none then
    shared = new ArrayBuffer(SHARED);
    used = 0;
  }
  const bytes = new Uint8Array(shared, used, length);
  used = Math.ceil((used + length) / 8) * 8;
  return bytes;
}
