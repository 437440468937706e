import type { ByteSource } from "../../io/storage/byte_source.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Extent, Tree } from "../../tree/tree.ts";

/** The state that was told last: most containers have one. */
let told = { mtime: -1, size: -1, text: "" };

/**
 * A strong tag of a content: of its bytes, or of where they lie in which state of the container, with its checksum.
 * Numbers are decimal: in another base, one of 32 bits takes as long to write as all the rest.
 */
export function etagOf(
  { sources }: Tree,
  { source, offset, length, checksum, bytes }: Extent,
): string {
  if (bytes !== undefined) {
    const content = bytes.subarray(offset, offset + length);
    return `"${length}.${crc32Of(content)}"`;
  }
  const state = stateOf(sources.at(source)!);
  return `"${state}.${source}.${offset}.${length}.${checksum}"`;
}

function stateOf({ mtime, size }: ByteSource): string {
  if (told.mtime !== mtime || told.size !== size) {
    told = { mtime, size, text: `${Math.floor(mtime)}.${size}` };
  }
  return told.text;
}
