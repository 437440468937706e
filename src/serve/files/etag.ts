import type { ByteSource } from "../../io/storage/byte_source.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Extent, Tree } from "../../tree/tree.ts";

/** The state that was told last: most containers have one. */
let told = { mtime: -1, size: -1, text: "" };

/** A strong tag of a content: of its bytes, or of where they lie in which state of the container, with its checksum. */
export function etagOf(
  { sources }: Tree,
  { source, offset, length, crc32, bytes }: Extent,
): string {
  if (bytes !== undefined) {
    const content = bytes.subarray(offset, offset + length);
    return `"${length.toString(36)}.${crc32Of(content).toString(36)}"`;
  }
  const state = stateOf(sources.at(source)!);
  const place = `${source.toString(36)}.${offset.toString(36)}`;
  return `"${state}.${place}.${length.toString(36)}.${crc32.toString(36)}"`;
}

function stateOf({ mtime, size }: ByteSource): string {
  if (told.mtime !== mtime || told.size !== size) {
    const text = `${Math.floor(mtime).toString(36)}.${size.toString(36)}`;
    told = { mtime, size, text };
  }
  return told.text;
}
