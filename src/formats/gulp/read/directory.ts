import { basename } from "node:path";
import type { Image } from "../../../codecs/image/image.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { storedAt } from "../../../io/storage/place.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { requireIndices } from "../../../tree/sample_indices.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import { GulpChunk } from "./chunk.ts";
import {
  type ChunkListing,
  chunkNumber,
  listChunks,
  newChunkPaths,
  nextNumber,
} from "./chunk_files.ts";
import type { VideoPlace } from "./chunk_table.ts";
import {
  type DecodeChoice,
  type FrameOf,
  type GulpOptions,
  type RawVideo,
  type Video,
  VideoDecoder,
} from "./decoding.ts";
import { UnknownIdError } from "../check/faults.ts";
import type { RawReadOptions } from "./frame_memory.ts";
import type { FrameSelection } from "./frame_selection.ts";
import type { VideoId } from "../ids/id_text.ts";
import { type GulpSamples, openSamples } from "./gulp_samples.ts";
import { readLabels } from "../meta/labels.ts";
import { LazyMap } from "../meta/lazy_map.ts";
import { OpenedChunk } from "./opened_chunk.ts";
import type { VideoMeta } from "../meta/serializer.ts";
import { StoredVideoMeta } from "../meta/video_meta.ts";

/**
 * A directory of GulpIO chunks (Python's `GulpDirectory`).
 *
 * Frames are decoded to `{ data, height, width, channels }`, unless opened with `decode: false` or a
 * function of one's own; `getRaw` gives JPEGs in any case. Frames that were read together share one
 * buffer: `slice` one to keep it without the others.
 *
 * @example Read videos
 * ```ts
 * import { GulpDirectory } from "@recordfs/recordfs/gulp";
 * import assert from "node:assert/strict";
 *
 * using directory = await GulpDirectory.open("test/golden/gulp/v2_integer_ids/gulp");
 * const [id] = directory.mergedMetaDict.keys();
 * const { frames, meta } = await directory.get(id!, { step: 2 });
 * assert.equal(frames[0]?.data.length, frames[0]!.height * frames[0]!.width * 3);
 * const raw = await directory.getRaw(id!, [-1, 0]);
 * assert.equal(raw.frames[1]?.[0], 0xff); // JPEGs
 * ```
 */
export class GulpDirectory<Frame = Image> implements Disposable {
  /** Path of the directory. */
  readonly path: string;
  readonly #listing: ChunkListing;
  readonly #samples: GulpSamples;
  readonly #options: GulpOptions;
  readonly #decoder: VideoDecoder<Frame>;
  readonly #chunks: readonly GulpChunk<Frame>[];

  private constructor(
    { path, listing, samples, options }: OpenedDirectory,
    decoder: VideoDecoder<Frame>,
  ) {
    this.path = path;
    this.#listing = listing;
    this.#samples = samples;
    this.#options = options;
    this.#decoder = decoder;
    this.#chunks = samples.shards.shards.map((chunk) =>
      new GulpChunk(chunk, decoder)
    );
  }

  /**
   * Opens a directory: reads all its meta files.
   *
   * @param options How to decode frames (`decode`, `colorspace`), and how meta files are kept.
   * @throws {FormatError} If the only chunk is damaged, or all are, or an id is there twice. Of several, those that are
   * damaged are left out.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<const Decode extends DecodeChoice>(
    directory: string | URL,
    options: GulpOptions<Decode> & WaitOptions = {},
  ): Promise<GulpDirectory<FrameOf<Decode>>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    const opening = openDirectory(directory, options);
    return new GulpDirectory(await runAsync(opening, options.signal), decoder);
  }

  /** {@linkcode GulpDirectory.open} without waiting. */
  static openSync<const Decode extends DecodeChoice>(
    directory: string | URL,
    options: GulpOptions<Decode> = {},
  ): GulpDirectory<FrameOf<Decode>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    const opened = runSync(openDirectory(directory, options));
    return new GulpDirectory(opened, decoder);
  }

  /** @ignore The number of videos of each chunk, 0 of one that is left out. */
  get shardLengths(): readonly number[] {
    return this.#samples.shards.lengths;
  }

  /** How many chunks there are. */
  get numChunks(): number {
    return this.#chunks.length;
  }

  /** How many videos there are. */
  get length(): number {
    return this.#samples.shards.length;
  }

  /** The chunks, in the order of their names: that of the videos. */
  chunks(): IterableIterator<GulpChunk<Frame>> {
    return this.#chunks[Symbol.iterator]();
  }

  /** The chunks. */
  [Symbol.iterator](): IterableIterator<GulpChunk<Frame>> {
    return this.chunks();
  }

  /** The chunks by their numbers. */
  get chunkObjsLookup(): Map<number, GulpChunk<Frame>> {
    return new Map(
      this.#chunks.map((chunk) => [numberOf(chunk), chunk]),
    );
  }

  /** The number of each id's chunk. */
  get chunkLookup(): LazyMap<number> {
    const { shards } = this.#samples;
    return new LazyMap(shards, (video) => numberOf(shards.of(video)));
  }

  /** What each chunk's meta file says, by id. */
  get allMetaDicts(): LazyMap<VideoMeta>[] {
    return this.#chunks.map((chunk) => chunk.metaDict);
  }

  /** What all meta files say, by id, in the order of chunks; nothing is kept as objects. */
  get mergedMetaDict(): LazyMap<VideoMeta> {
    const { shards } = this.#samples;
    return new LazyMap(shards, (index) => {
      const { chunk, video } = shards.at(index);
      return new StoredVideoMeta(chunk.meta, video);
    });
  }

  /**
   * The id of a video by its place among all, from 0, in the order of
   * {@linkcode GulpDirectory.mergedMetaDict}.
   *
   * @throws {IndexError} If there is no such place.
   */
  idAt(index: number): string {
    requireIndices(index, this.length, () => this.path, "video");
    return this.#samples.keyOf(index);
  }

  /**
   * How many frames a video has.
   *
   * @throws {UnknownIdError} If there is no such video.
   */
  frameCount(id: VideoId): number {
    const { chunk, video } = this.#find(id);
    return chunk.meta.columns.frameCounts[video]!;
  }

  /** Whether there is a video with this id. */
  has(id: VideoId): boolean {
    return this.#samples.shards.find(String(id)) >= 0;
  }

  /**
   * Reads frames of a video, and its meta data (Python's `directory[id]` and `directory[id, slice]`).
   *
   * @param id The video.
   * @param selection Which frames: a slice or indices with Python's meaning; all where not given.
   * @throws {UnknownIdError} If there is no such video.
   * @throws {IndexError} If there is no such frame.
   * @throws {FormatError} If a frame that was asked for is damaged.
   */
  async get(
    id: VideoId,
    selection?: FrameSelection,
    options: WaitOptions = {},
  ): Promise<Video<Frame>> {
    return await this.#decoder.decode(
      await this.getRaw(id, selection, options),
    );
  }

  /** {@linkcode GulpDirectory.get} without waiting; the decoder must be one that does not wait. */
  getSync(id: VideoId, selection?: FrameSelection): Video<Frame> {
    return this.#decoder.decodeSync(this.getRawSync(id, selection));
  }

  /** {@linkcode GulpDirectory.get}, but frames stay the JPEGs that are stored. */
  // deno-lint-ignore require-await -- its errors must reach the caller as a rejection
  async getRaw(
    id: VideoId,
    selection?: FrameSelection,
    options: WaitOptions & RawReadOptions = {},
  ): Promise<RawVideo> {
    const { memory, signal } = options;
    const { chunk, video } = this.#find(id);
    return runAsync(chunk.readVideo(video, selection, memory), signal);
  }

  /** {@linkcode GulpDirectory.getRaw} without waiting. */
  getRawSync(
    id: VideoId,
    selection?: FrameSelection,
    options: RawReadOptions = {},
  ): RawVideo {
    const { chunk, video } = this.#find(id);
    return runSync(chunk.readVideo(video, selection, options.memory));
  }

  /**
   * Says that frames of a video will be read soon: where the directory lies on a server, they are fetched meanwhile, up
   * to some megabytes at a time. Nothing is waited for, and what is wrong with them whoever reads them is told.
   *
   * @returns How many bytes of frames are fetched, or have been; 0 where the files are local.
   */
  expect(id: VideoId, selection?: FrameSelection): number {
    if (!this.has(id)) return 0;
    const { chunk, video } = this.#find(id);
    return chunk.expectVideo(video, selection);
  }

  /**
   * Frames of a video as views into a memory map of its data file: nothing is copied, which is many
   * times as fast as reading. Linux only, and it needs `--allow-ffi`.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails: so
   * for files that nobody changes. Writing to a view never changes the file; it changes what all
   * views of those bytes show. Views stay valid after `close()`, for as long as they are referred to.
   * Their `buffer` is the whole file: it must not be transferred to another thread, which would empty
   * all views of the file; post a copy, made with `slice()`: posting the view copies the whole file.
   *
   * @throws {UnknownIdError} If there is no such video.
   * @throws {IndexError} If there is no such frame.
   * @throws {FormatError} If a frame that was asked for is damaged, or the file was cut.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped: `getRaw` works there.
   *
   * @example Look at frames in place
   * ```ts
   * import { GulpDirectory } from "@recordfs/recordfs/gulp";
   * import assert from "node:assert/strict";
   *
   * using directory = await GulpDirectory.open("test/golden/gulp/v2_integer_ids/gulp");
   * const [id] = directory.mergedMetaDict.keys();
   * assert.deepEqual(directory.unsafeView(id!), await directory.getRaw(id!));
   * ```
   */
  unsafeView(id: VideoId, selection?: FrameSelection): RawVideo {
    const { chunk, video } = this.#find(id);
    return runSync(chunk.viewVideo(video, selection));
  }

  /**
   * Reads `label2idx.json`: the number of each label.
   *
   * @returns `undefined` where there is no such file.
   * @throws {FormatError} If it is damaged.
   */
  labels(options: WaitOptions = {}): Promise<Map<string, number> | undefined> {
    return runAsync(this.#readLabels(), options.signal);
  }

  /** {@linkcode GulpDirectory.labels} without waiting. */
  labelsSync(): Map<string, number> | undefined {
    return runSync(this.#readLabels());
  }

  /**
   * Chunks to be written, numbered on from the highest number there is. What is written to them, the
   * directory shows when it is opened again.
   *
   * @param count How many.
   */
  newChunks(count: number): GulpChunk<Frame>[] {
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new RangeError(`${count} chunks can't be made: give a number ≥ 0`);
    }
    const next = nextNumber(this.#listing);
    return Array.from({ length: count }, (_, i) => {
      const paths = newChunkPaths(this.path, next + i);
      const chunk = OpenedChunk.empty(paths, this.#options);
      return new GulpChunk(chunk, this.#decoder);
    });
  }

  /** Closes all files. */
  close(): void {
    for (const chunk of this.#chunks) chunk.close();
  }

  /** Closes all files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #readLabels(): Steps<Map<string, number> | undefined> {
    return readLabels(this.#listing.labelPath, this.#samples.storage);
  }

  #find(id: VideoId): VideoPlace {
    const { shards } = this.#samples;
    const index = shards.find(String(id));
    if (index < 0) throw new UnknownIdError(String(id), this.path);
    return shards.at(index);
  }
}

/** The number of a chunk. */
function numberOf({ dataPath }: { readonly dataPath: string }): number {
  return chunkNumber(basename(dataPath));
}

/** What opening a directory finds. */
interface OpenedDirectory {
  readonly path: string;
  readonly listing: ChunkListing;
  readonly samples: GulpSamples;
  readonly options: GulpOptions;
}

/** Opens the chunks of a directory; those that are left out are said. */
export function* openDirectory(
  directory: string | URL,
  given: GulpOptions,
): Steps<OpenedDirectory> {
  const { path, storage } = storedAt(directory, given);
  const options = { ...given, storage };
  const listing = yield* listChunks(path, storage);
  const samples = yield* openSamples(listing, options);
  const { lost } = samples.shards;
  warnOfAll(noteLines(lostNotes(lost)), given.onWarning);
  return { path, listing, samples, options };
}
