import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { RecordFiles } from "../read/record_files.ts";

/** What a packed folder's last sample starts with (ffrecord's `pack_folder`). */
export const MAGIC = new TextEncoder().encode("piouhjgbr");

/** Whether a sample that starts with `head` can be a structure: the magic, and something after it. */
export function hasMagic(head: Uint8Array, sampleLength: number): boolean {
  return sampleLength > MAGIC.length &&
    MAGIC.every((byte, i) => head[i] === byte);
}

/** Whether a sample starts as a folder structure does. */
export function* endsInStructure(
  { sources, index }: RecordFiles,
  sample: number,
): Steps<boolean> {
  const extent = newExtent();
  index.locate(sample, extent);
  const head = yield* readPart(
    sources[extent.source]!,
    extent.offset,
    Math.min(extent.length, MAGIC.length),
  );
  return hasMagic(head, extent.length);
}
