import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Extent, Tree } from "../../tree/tree.ts";

/** A strong tag of a content: of its bytes, or of where they lie in which state of the container, with its checksum. */
export function etagOf(
  { sources }: Tree,
  { source, offset, length, crc32, bytes }: Extent,
): string {
  if (bytes !== undefined) {
    const content = bytes.subarray(offset, offset + length);
    return `"${length.toString(36)}.${crc32Of(content).toString(36)}"`;
  }
  const { mtime, size } = sources.at(source)!;
  const state = `${Math.floor(mtime).toString(36)}.${size.toString(36)}`;
  const place = `${source.toString(36)}.${offset.toString(36)}`;
  return `"${state}.${place}.${length.toString(36)}.${crc32.toString(36)}"`;
}
