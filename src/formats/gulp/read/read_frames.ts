import type {
  ByteSource,
  SourceList,
} from "../../../io/storage/byte_source.ts";
import { fill } from "../../../io/read/read_part.ts";
import { type BatchRoom, RunRoom } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import {
  orderOf,
  type RunLimits,
  runsOf,
  type Slice,
} from "../../../io/read/slice_runs.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { type MetaColumns, VideoFault } from "../meta/meta_columns.ts";

/** A video normally takes one read; longer ones are read in pieces. */
const RUNS: RunLimits = {
  small: Infinity,
  gap: 8 * 1024,
  longest: 64 << 20,
  overlaps: true,
};

/**
 * Reads frames, with one read for neighbours.
 *
 * @param frames Locations inside their sources, in any order; may repeat and overlap.
 * @param memory Memory to read into.
 * @returns The frames in that order. They share one buffer, so that they never take more memory than the sources have
 *   bytes, whatever a damaged index says.
 */
export function readFrames(
  sources: SourceList,
  frames: readonly Slice[],
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const room = new RunRoom(RUNS, memory);
  return readSlices(sources, frames, undefined, room);
}

/**
 * Reads all frames of a video in one read, without an object per location, if they are consecutive, as writers store
 * them. Returns `undefined` if they are not, or not all inside the file, or if the video is damaged.
 */
export function* readWholeVideo(
  source: ByteSource,
  { offsets, lengths, pads, firstFrames, frameCounts, faults }: MetaColumns,
  video: number,
  memory: BatchRoom | undefined,
): Steps<Uint8Array<ArrayBuffer>[] | undefined> {
  if (faults[video] !== VideoFault.NONE) return undefined;
  const first = firstFrames[video]!;
  const count = frameCounts[video]!;
  if (count === 0) return [];
  const start = offsets[first]!;
  let end = start;
  for (let row = first; row < first + count; row++) {
    const offset = offsets[row]!; // negative if it is a fault
    if (offset < end || offset - end > RUNS.gap) return undefined;
    end = offset + lengths[row]! - pads[row]!;
  }
  if (start < 0 || end > source.size || end - start > RUNS.longest) {
    return undefined;
  }
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

/** Prefetches frames of a source; returns the bytes in flight or cached. */
export function prefetchFrames(
  source: ByteSource,
  frames: readonly Slice[],
): number {
  let bytes = 0;
  for (const { offset, length } of runsOf(frames, orderOf(frames), RUNS)) {
    if (source.prefetch?.(offset, length) !== true) break;
    bytes += length;
  }
  return bytes;
}
