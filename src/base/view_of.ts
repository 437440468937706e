/** Views bytes as numbers. */
export function viewOf(
  { buffer, byteOffset, byteLength }: Uint8Array,
): DataView<ArrayBufferLike> {
  return new DataView(buffer, byteOffset, byteLength);
}
