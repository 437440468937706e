import { basename } from "node:path";
import type { Image } from "../../../codecs/image/image.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { storedAt } from "../../../io/storage/stored_location.ts";
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
  type FrameOf,
  type GulpOptions,
  type Video,
  VideoDecoder,
} from "./decoding.ts";
import { UnknownIdError } from "../check/faults.ts";
import type { FrameSelection } from "./frame_selection.ts";
import type { VideoId } from "../ids/id_text.ts";
import { type GulpSamples, openSamples } from "./gulp_samples.ts";
import { readLabels } from "../meta/labels.ts";
import { LazyMap } from "../meta/lazy_map.ts";
import { OpenedChunk } from "./opened_chunk.ts";
import type { VideoMeta } from "../meta/serializer.ts";
import { StoredVideoMeta } from "../meta/video_meta.ts";

/**
 * Directory of GulpIO chunks (Python's `GulpDirectory`).
 *
 * Frames are decoded to `{ data, height, width, channels }`, unless the directory is opened with `decode: false` or a
 * custom function; `getRaw` always returns JPEGs. Frames read together share one buffer: `slice` a frame to keep it
 * without the others.
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
   * Opens a directory and reads all its meta files. Skips damaged chunks, unless all are damaged.
   *
   * @param options How to decode frames (`decode`, `colorspace`), and the form of meta files.
   * @throws {FormatError} If the only chunk is damaged, or all are, or an id is duplicated.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<const Decode extends GulpOptions["decode"]>(
    directory: string | URL,
    options: GulpOptions<Decode> & WaitOptions = {},
  ): Promise<GulpDirectory<FrameOf<Decode>>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    const opening = openDirectory(directory, options);
    return new GulpDirectory(await runAsync(opening, options.signal), decoder);
  }

  /** Synchronous version of {@linkcode GulpDirectory.open}. */
  static openSync<const Decode extends GulpOptions["decode"]>(
    directory: string | URL,
    options: GulpOptions<Decode> = {},
  ): GulpDirectory<FrameOf<Decode>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    const opened = runSync(openDirectory(directory, options));
    return new GulpDirectory(opened, decoder);
  }

  /** @ignore Number of videos of each chunk, 0 for a skipped one. */
  get shardLengths(): readonly number[] {
    return this.#samples.shards.lengths;
  }

  /** Number of chunks. */
  get numChunks(): number {
    return this.#chunks.length;
  }

  /** Number of videos. */
  get length(): number {
    return this.#samples.shards.length;
  }

  /** Iterates over the chunks by name, which is the order of videos. */
  chunks(): IterableIterator<GulpChunk<Frame>> {
    return this.#chunks[Symbol.iterator]();
  }

  /** Iterates over the chunks. */
  [Symbol.iterator](): IterableIterator<GulpChunk<Frame>> {
    return this.chunks();
  }

  /** Chunks by number. */
  get chunkObjsLookup(): Map<number, GulpChunk<Frame>> {
    return new Map(
      this.#chunks.map((chunk) => [numberOf(chunk), chunk]),
    );
  }

  /** Number of the chunk of each id. */
  get chunkLookup(): ReadonlyMap<string, number> {
    const { shards } = this.#samples;
    return new LazyMap(shards, (video) => numberOf(shards.of(video)));
  }

  /** Content of each chunk's meta file, by id. */
  get allMetaDicts(): ReadonlyMap<string, VideoMeta>[] {
    return this.#chunks.map((chunk) => chunk.metaDict);
  }

  /** Content of all meta files by id, in chunk order; entries are made on access. */
  get mergedMetaDict(): ReadonlyMap<string, VideoMeta> {
    const { shards } = this.#samples;
    return new LazyMap(shards, (index) => {
      const { chunk, video } = shards.at(index);
      return new StoredVideoMeta(chunk.meta, video);
    });
  }

  /**
   * Returns the id of a video by its index, from 0, in the order of {@linkcode GulpDirectory.mergedMetaDict}.
   *
   * @throws {IndexError} If there is no such index.
   */
  idAt(index: number): string {
    requireIndices(index, this.length, () => this.path, "video");
    return this.#samples.keyOf(index);
  }

  /**
   * Returns the number of frames of a video.
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
   * Reads frames of a video, and its metadata (Python's `directory[id]` and `directory[id, slice]`).
   *
   * @param id Id of the video.
   * @param selection Frames to read: a slice or indices as in Python; all by default.
   * @throws {UnknownIdError} If there is no such video.
   * @throws {IndexError} If there is no such frame.
   * @throws {FormatError} If a selected frame is damaged.
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

  /** Synchronous version of {@linkcode GulpDirectory.get}; the decoder must be synchronous. */
  getSync(id: VideoId, selection?: FrameSelection): Video<Frame> {
    return this.#decoder.decodeSync(this.getRawSync(id, selection));
  }

  /** Like {@linkcode GulpDirectory.get}, but returns the stored JPEGs. */
  // deno-lint-ignore require-await -- its errors must reach the caller as a rejection
  async getRaw(
    id: VideoId,
    selection?: FrameSelection,
    options: WaitOptions & {
      /** Memory to read into; newly allocated by default. */
      readonly memory?: GrowingMemory | undefined;
    } = {},
  ): Promise<Video<Uint8Array<ArrayBuffer>>> {
    const { memory, signal } = options;
    const { chunk, video } = this.#find(id);
    return runAsync(chunk.readVideo(video, selection, memory), signal);
  }

  /** Synchronous version of {@linkcode GulpDirectory.getRaw}. */
  getRawSync(
    id: VideoId,
    selection?: FrameSelection,
    options: {
      /** Memory to read into; newly allocated by default. */
      readonly memory?: GrowingMemory | undefined;
    } = {},
  ): Video<Uint8Array<ArrayBuffer>> {
    const { chunk, video } = this.#find(id);
    return runSync(chunk.readVideo(video, selection, options.memory));
  }

  /**
   * Prefetches frames of a video from a server, up to some megabytes at a time, without waiting. Errors surface on the
   * read itself.
   *
   * @returns Number of bytes of frames in flight or cached; 0 if the files are local.
   */
  prefetch(id: VideoId, selection?: FrameSelection): number {
    if (!this.has(id)) return 0;
    const { chunk, video } = this.#find(id);
    return chunk.prefetchVideo(video, selection);
  }

  /**
   * Returns frames of a video as views into a memory map of its data file. Copies nothing, which is many times as fast
   * as reading. Linux only; needs `--allow-ffi`.
   *
   * **Reading a view after its file was truncated kills the process**, as does a failing disk: use views only for files
   * that nobody changes. Writing to a view never changes the file, but all views of those bytes. Views stay valid after
   * `close()` as long as they are referenced. Their `buffer` is the whole file. It must not be transferred to another
   * thread, which would empty all views of the file. Post a copy made with `slice()`: posting the view copies the whole
   * file.
   *
   * @throws {UnknownIdError} If there is no such video.
   * @throws {IndexError} If there is no such frame.
   * @throws {FormatError} If a selected frame is damaged, or the file was cut.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped; use `getRaw` then.
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
  unsafeView(
    id: VideoId,
    selection?: FrameSelection,
  ): Video<Uint8Array<ArrayBuffer>> {
    const { chunk, video } = this.#find(id);
    return runSync(chunk.viewVideo(video, selection));
  }

  /**
   * Reads `label2idx.json`: the number of each label.
   *
   * @returns `undefined` if there is no such file.
   * @throws {FormatError} If it is damaged.
   */
  labels(options: WaitOptions = {}): Promise<Map<string, number> | undefined> {
    return runAsync(this.#readLabels(), options.signal);
  }

  /** Synchronous version of {@linkcode GulpDirectory.labels}. */
  labelsSync(): Map<string, number> | undefined {
    return runSync(this.#readLabels());
  }

  /**
   * Returns new chunks to write, numbered on from the highest existing number. The directory shows their content when
   * it is opened again.
   *
   * @param count Number of chunks.
   */
  newChunks(count: number): GulpChunk<Frame>[] {
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new RangeError(
        "The number of chunks must be a whole number from 0 on, not " +
          `${count}`,
      );
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

function numberOf({ dataPath }: { readonly dataPath: string }): number {
  return chunkNumber(basename(dataPath));
}

interface OpenedDirectory {
  readonly path: string;
  readonly listing: ChunkListing;
  readonly samples: GulpSamples;
  readonly options: GulpOptions;
}

/** Opens the chunks of a directory; warns of skipped ones. */
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
