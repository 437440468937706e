import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import type { FramePlace } from "../meta/chunk_meta.ts";
import { type MetaColumns, VideoFault } from "../meta/meta_columns.ts";

/** Largest gap between frames that is read and thrown away. */
const GAP = 8 * 1024;

/** Reads that are longer than that are not made longer; longer videos are read in pieces. */
const LONG_RUN = 64 << 20;

/** Where a frame's JPEG lies, and in which data file. */
export interface StoredFrame extends FramePlace {
  readonly source: ByteSource;
}

/** Frames that are read together. */
interface Run {
  readonly source: ByteSource;
  readonly start: number;
  end: number;
  readonly frames: number[];
}

/**
 * Reads frames, those that are neighbours in one read: a whole video is one, as a rule.
 *
 * @param places Where the frames lie, inside their sources, in any order; repeats and overlaps allowed.
 * @param memory What to read into.
 * @returns The frames in the order of `places`. Those read together share one buffer, so that no more
 * memory is taken than the sources have bytes, whatever a damaged index says.
 */
export function* readFramePlaces(
  places: readonly StoredFrame[],
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const frames: Uint8Array<ArrayBuffer>[] = new Array(places.length);
  const runs = runsOf(places);
  const total = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  const shared = memory?.take(total);
  let at = 0;
  yield* inParallel(runs.map((run) => {
    const length = run.end - run.start;
    const bytes = shared?.subarray(at, at += length) ?? new Uint8Array(length);
    return readRun(places, run, bytes, frames);
  }));
  return frames;
}

/**
 * Reads all frames of a video that lie one behind the other, as writers put them, in one read, and
 * without an object for each place.
 *
 * @returns `undefined` where they lie otherwise, or not all inside the file, or the video is damaged.
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
    const offset = offsets[row]!; // negative where it is no place
    if (offset < end || offset - end > GAP) return undefined;
    end = offset + lengths[row]! - pads[row]!;
  }
  if (start < 0 || end > source.size || end - start > LONG_RUN) {
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

/**
 * Says that frames will be read soon: what has to be fetched of them begins to.
 *
 * @returns How many bytes are fetched, or have been.
 */
export function expectFramePlaces(places: readonly StoredFrame[]): number {
  let bytes = 0;
  for (const { source, start, end } of runsOf(places)) {
    if (source.expect?.(start, end - start) !== true) break;
    bytes += end - start;
  }
  return bytes;
}

function runsOf(places: readonly StoredFrame[]): Run[] {
  const files = Map.groupBy(places.keys(), (frame) => places[frame]!.source);
  return [...files].flatMap(([source, frames]) =>
    runsOfFile(source, places, frames)
  );
}

function runsOfFile(
  source: ByteSource,
  places: readonly StoredFrame[],
  frames: number[],
): Run[] {
  const runs: Run[] = [];
  frames.sort((a, b) => places[a]!.offset - places[b]!.offset);
  for (const frame of frames) {
    const { offset, length } = places[frame]!;
    const run = runs.at(-1);
    const joins = run !== undefined &&
      (offset < run.end ||
        offset - run.end <= GAP && run.end - run.start < LONG_RUN);
    if (joins) {
      run!.frames.push(frame);
      run!.end = Math.max(run!.end, offset + length);
    } else {
      const end = offset + length;
      runs.push({ source, start: offset, end, frames: [frame] });
    }
  }
  return runs;
}

function* readRun(
  places: readonly StoredFrame[],
  run: Run,
  bytes: Uint8Array<ArrayBuffer>,
  frames: Uint8Array<ArrayBuffer>[],
): Steps<void> {
  yield* fill(run.source, bytes, run.start);
  for (const frame of run.frames) {
    const { offset, length } = places[frame]!;
    const from = offset - run.start;
    frames[frame] = bytes.subarray(from, from + length);
  }
}
