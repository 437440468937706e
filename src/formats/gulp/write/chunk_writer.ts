import { messageOf } from "../../../base/message_text.ts";
import * as fs from "node:fs";
import { RecordfsError, WriteError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import type {
  AdaptedVideo,
  ChunkSlice,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import type { GulpChunk } from "../read/chunk.ts";
import { type Frames, jpegOf } from "./frame_data.ts";

/** Report of a written chunk, or of all chunks of an ingest. */
export interface ChunkReport {
  /** Number of videos. */
  readonly videos: number;
  /** Number of frames. */
  readonly frames: number;
  /** Size of the data files in bytes. */
  readonly bytes: number;
  /** Videos that could not be gulped and are skipped, in adapter order. */
  readonly failed: readonly {
    /** Id of the video. */
    readonly id: string;
    /** Message of the program or library that failed. */
    readonly reason: string;
  }[];
}

/** A video that could not be gulped. */
export type FailedVideo = ChunkReport["failed"][number];

/**
 * Writes the videos of an adapter to chunks (Python's `ChunkWriter`).
 *
 * @example Two images
 * ```ts
 * import { AbstractDatasetAdapter, ChunkWriter, GulpChunk } from "@recordfs/recordfs/gulp";
 * import assert from "node:assert/strict";
 *
 * class Squares extends AbstractDatasetAdapter {
 *   readonly length = 2;
 *   *iterData({ start, stop } = { start: 0, stop: 2 }) {
 *     for (let side = start + 1; side <= stop; side++) {
 *       const data = new Uint8Array(side * side);
 *       const frames = [{ data, height: side, width: side, channels: 1 } as const];
 *       yield { id: side, meta: { side }, frames };
 *     }
 *   }
 * }
 *
 * const dir = await Deno.makeTempDir();
 * using chunk = await GulpChunk.load(`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`);
 * const report = await new ChunkWriter(new Squares()).writeChunk(chunk, { start: 0, stop: 2 });
 * assert.equal(report.videos, 2);
 * assert.deepEqual((await chunk.readFrames(2)).meta, { side: 2 });
 * ```
 */
export class ChunkWriter {
  readonly #adapter: DatasetAdapter;

  /** Makes a writer for the videos of `adapter`. */
  constructor(adapter: DatasetAdapter) {
    this.#adapter = adapter;
  }

  /**
   * Writes a slice of the adapter's videos to a chunk, which starts anew. Skips videos without frames, or whose frames
   * cannot be read; if none remains, no chunk is written.
   *
   * @throws {WriteError} If the chunk cannot be written.
   * @throws {RecordfsError} If two videos have the same id.
   * @throws Errors of the adapter between videos, and of a missing program or permission that all videos need.
   */
  writeChunk<Frame>(
    chunk: GulpChunk<Frame>,
    slice: ChunkSlice,
    options: WaitOptions & {
      /** Called with the size in bytes of each frame. */
      readonly onFrame?: ((bytes: number) => void) | undefined;
      /** Called after each video, with its failure, or `undefined` if it is written. */
      readonly onVideo?:
        | ((failed: ChunkReport["failed"][number] | undefined) => void)
        | undefined;
      /** Called before a chunk is completed; if it rejects, the chunk is not written. */
      readonly onIds?: ((ids: readonly string[]) => Promise<void>) | undefined;
    } = {},
  ): Promise<ChunkReport> {
    return writeVideos(this.#adapter, chunk, slice, undefined, options);
  }
}

/** Writes a slice of an adapter's videos to a chunk, which starts anew; or adds those in `only` to an existing one. */
export async function writeVideos<Frame>(
  adapter: DatasetAdapter,
  chunk: GulpChunk<Frame>,
  slice: ChunkSlice,
  only: ReadonlySet<string> | undefined,
  options: NonNullable<Parameters<ChunkWriter["writeChunk"]>[2]>,
): Promise<ChunkReport> {
  const { signal } = options;
  const failed: FailedVideo[] = [];
  const ids = new Set<string>();
  let frames = 0;
  const mode = only === undefined ? "wb" : "ab";
  await using _open = await chunk.open(mode, { signal });
  // Drops videos without a warning: the error that ends the writing reports it.
  using _unflushed = { [Symbol.dispose]: () => chunk.abort() };
  for await (const video of adapter.iterData(slice, { signal })) {
    signal?.throwIfAborted();
    const id = String(video.id);
    if (only?.has(id) === false) continue;
    if (ids.has(id)) {
      throw new RecordfsError(
        "duplicate-id",
        `Cannot write the id ${JSON.stringify(id)} of the adapter twice: ` +
          "readers tell videos apart by their ids",
      );
    }
    let count = 0;
    const jpegs = atLeastOne(video.frames, (bytes) => {
      count++;
      options.onFrame?.(bytes);
    });
    const failure = await append(chunk, video, jpegs, options);
    if (failure === undefined) {
      ids.add(id);
      frames += count;
    } else failed.push(failure);
    options.onVideo?.(failure);
  }
  if (ids.size === 0) return { videos: 0, frames: 0, bytes: 0, failed };
  await options.onIds?.([...ids]);
  signal?.throwIfAborted();
  await chunk.flush();
  const bytes = fs.statSync(chunk.dataPath).size;
  return { videos: ids.size, frames, bytes, failed };
}

/**
 * Returns the slices of an adapter's videos for chunks (Python's `calculate_chunk_slices`).
 *
 * @param itemsPerChunk Number of videos in a chunk; the last may have fewer.
 * @param numItems Number of videos.
 * @throws {RangeError} If a number is not an integer of at least 1.
 *
 * @example Two chunks
 * ```ts
 * import { calculateChunkSlices } from "@recordfs/recordfs/gulp";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(calculateChunkSlices(2, 3), [{ start: 0, stop: 2 }, { start: 2, stop: 3 }]);
 * ```
 */
export function calculateChunkSlices(
  itemsPerChunk: number,
  numItems: number,
): ChunkSlice[] {
  assertCounts({ itemsPerChunk, numItems });
  const slices: ChunkSlice[] = [];
  for (let start = 0; start < numItems; start += itemsPerChunk) {
    slices.push({ start, stop: Math.min(start + itemsPerChunk, numItems) });
  }
  return slices;
}

/** @throws {RangeError} If a count is not an integer of at least 1. */
export function assertCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new RangeError(
      `${name} must be a whole number from 1 on, not ${value}`,
    );
  }
}

/** Appends a video, or returns its failure. */
async function append<Frame>(
  chunk: GulpChunk<Frame>,
  { id, meta }: AdaptedVideo,
  frames: Frames,
  { signal }: WaitOptions,
): Promise<FailedVideo | undefined> {
  try {
    await chunk.append(id, meta, frames, { signal });
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WriteError || concernsAll(error)) throw error;
    const reason = messageOf(error);
    return { id: String(id), reason };
  }
}

/** Whether the next video would fail in the same way. */
function concernsAll(error: unknown): boolean {
  if (error instanceof Deno.errors.NotCapable) return true;
  return error instanceof RecordfsError &&
    ["codec-unavailable", "ffmpeg-missing", "ffmpeg-refused"]
      .includes(error.code);
}

/**
 * Yields a video's frames as JPEGs; throws if there are none.
 *
 * @param onFrame Called with the size of each frame.
 */
async function* atLeastOne(
  frames: Frames,
  onFrame: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  let isEmpty = true;
  for await (const frame of frames) {
    // Without asynchronous work, a thread would not receive the message to abort.
    while (shouldYield()) await yieldToEventLoop();
    const jpeg = await jpegOf(frame);
    yield jpeg;
    isEmpty = false;
    onFrame(jpeg.length);
  }
  if (isEmpty) throw new RecordfsError("no-frames", "it has no frames");
}
