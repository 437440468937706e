import type { ByteSource } from "../../io/storage/byte_source.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import type { Extent, Tree } from "../../tree/tree.ts";

/** Cached text of the last source's state: most containers have a single source. */
let told = { mtime: -1, size: -1, text: "" };

/**
 * Returns the strong entity tag of a content, from its bytes, or from its source's state with its extent and checksum.
 * Numbers are decimal, because converting a 32-bit number to another base takes as long as all the rest.
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
