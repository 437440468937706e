import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { FrameMemory } from "./frame_memory.ts";
import type { MetaColumns } from "../meta/meta_columns.ts";
import { GAP } from "./read_frames.ts";

/** Longer videos are read in pieces, like any selection of frames. */
const LONGEST = 64 << 20;

/**
 * Reads all frames of a video that lie one behind the other, as writers put them, in one read, and
 * without an object for each place.
 *
 * @returns `undefined` where they lie otherwise, or not all inside the file.
 */
export function* readWholeVideo(
  source: ByteSource,
  { offsets, lengths, pads, firstFrames, frameCounts }: MetaColumns,
  video: number,
  memory: FrameMemory | undefined,
): Steps<Uint8Array<ArrayBuffer>[] | undefined> {
  const first = firstFrames[video]!;
  const count = frameCounts[video]!;
  if (count === 0) return [];
  const start = offsets[first]!;
  let end = start;
  for (let row = first; row < first + count; row++) {
    const offset = offsets[row]!; // negative where it is no place
    if (offset < end || offset - end > GAP) return undefined;
    end = offset + lengths[row]! - pads[row]!;
  }
  if (start < 0 || end > source.size || end - start > LONGEST) return undefined;
  const bytes = memory?.take(end - start) ?? new Uint8Array(end - start);
  yield* fill(source, bytes, start);
  const frames: Uint8Array<ArrayBuffer>[] = new Array(count);
  for (let frame = 0; frame < count; frame++) {
    const row = first + frame;
    const at = offsets[row]! - start;
    frames[frame] = bytes.subarray(at, at + lengths[row]! - pads[row]!);
  }
  return frames;
}
