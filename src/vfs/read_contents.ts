import { type BatchRoom, placesIn } from "../io/read/read_memory.ts";
import { readSlices } from "../io/read/read_slices.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { Extent, Tree } from "../tree/tree.ts";

/** How to read the contents of files. */
export interface ReadContentsOptions {
  /** Called with the CRC-32 of each content that is stored in the container. */
  readonly verify?: ((index: number, crc: number) => void) | undefined;
  /** What to read into; memory of their own where not given. */
  readonly memory?: BatchRoom | undefined;
}

/**
 * Reads the contents of files: in the order in which they lie, neighbours in one go.
 *
 * @param extents Where they are, as the tree says.
 * @returns The contents in the order of `extents`, none of which shares bytes with another.
 */
export function* readContents(
  { sources }: Tree,
  extents: readonly Extent[],
  { verify, memory }: ReadContentsOptions,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const places = memory && placesIn(memory, extents);
  const contents: Uint8Array<ArrayBuffer>[] = new Array(extents.length);
  const stored: Extent[] = [];
  const owners: number[] = []; // whose content each that is stored is
  for (const [i, extent] of extents.entries()) {
    if (extent.bytes === undefined) owners[stored.push(extent) - 1] = i;
    else {
      const content = places?.[i] ?? new Uint8Array(extent.length);
      content.set(extent.bytes);
      contents[i] = content;
    }
  }
  const read = yield* readSlices(
    sources,
    stored,
    verify && ((i, crc) => verify(owners[i]!, crc)),
    places && owners.map((owner) => places[owner]!),
  );
  for (const [i, bytes] of read.entries()) contents[owners[i]!] = bytes;
  return contents;
}
