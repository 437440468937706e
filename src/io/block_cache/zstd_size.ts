/** Most bytes of a frame's header. */
export const LONGEST_ZSTD_HEAD = 18;

const MAGIC = 0xfd2fb528;

/** Most bytes of content to a byte: a block of 4 bytes repeats one 2^17 times (RFC 8878, 3.1.1.2). */
const MOST_EXPANSION = 1 << 15;

/**
 * Returns the size of a content in the header of its Zstandard frame (RFC 8878, 3.1.1.1); -1 if it says none, `undefined`
 * if the bytes are no frame, or none that could have such a content.
 *
 * @param head The first bytes of the frame, {@linkcode LONGEST_ZSTD_HEAD} if there are as many.
 * @param packed Size of the frame.
 */
export function zstdSize(head: DataView, packed: number): number | undefined {
  if (head.byteLength < 6 || head.getUint32(0, true) !== MAGIC) {
    return undefined;
  }
  const descriptor = head.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const flag = descriptor >> 6;
  const at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const width = flag === 0 ? (isSingle ? 1 : 0) : 1 << flag;
  if (at + width > head.byteLength) return undefined;
  const size = width === 0
    ? -1
    : width === 1
    ? head.getUint8(at)
    : width === 2
    ? head.getUint16(at, true) + 256
    : width === 4
    ? head.getUint32(at, true)
    : Number(head.getBigUint64(at, true));
  return size > packed * MOST_EXPANSION ? undefined : size;
}
