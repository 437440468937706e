import type { Image } from "../../../codecs/image/image.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { allStoredAt } from "../../../io/storage/stored_location.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import {
  type FrameOf,
  type GulpOptions,
  type Video,
  VideoDecoder,
} from "./decoding.ts";
import { UnknownIdError } from "../check/faults.ts";
import type { FrameSelection } from "./frame_selection.ts";
import type { VideoId } from "../ids/id_text.ts";
import { formatVideoMeta } from "../meta/collected_meta.ts";
import { LazyMap } from "../meta/lazy_map.ts";
import { ChunkOutput } from "../write/chunk_output.ts";
import { OpenedChunk } from "./opened_chunk.ts";
import type { VideoMeta } from "../meta/serializer.ts";
import { StoredVideoMeta } from "../meta/video_meta.ts";
import { videosInOrder } from "../ids/video_order.ts";

/**
 * One `data_K.gulp` with its `meta_K.gmeta` (Python's `GulpChunk`).
 *
 * Frames read together share one buffer: `slice` a frame to keep it without the others.
 *
 * @example Iterate
 * ```ts
 * import { GulpChunk } from "@recordfs/recordfs/gulp";
 * import assert from "node:assert/strict";
 *
 * const dir = "test/golden/gulp/v2_one_frame/gulp";
 * using chunk = await GulpChunk.load(`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`, { decode: false });
 * for (const { frames, meta } of chunk) {
 *   assert.equal(frames[0]?.length, 1055);
 *   assert.equal(meta.idx, 16);
 * }
 * ```
 */
export class GulpChunk<Frame = Image> implements Disposable {
  /** Called if appended videos are lost because they were not flushed; prints to the console by default. */
  onWarning: (message: string) => void = warnOnConsole;
  #chunk: OpenedChunk;
  readonly #decoder: VideoDecoder<Frame>;
  #output: ChunkOutput | undefined;
  #closed = false;

  /**
   * Wraps an opened chunk; {@linkcode GulpChunk.load} opens one.
   *
   * @param chunk Opened files.
   * @param decoder Decodes JPEGs to frames.
   */
  constructor(chunk: OpenedChunk, decoder: VideoDecoder<Frame>) {
    this.#chunk = chunk;
    this.#decoder = decoder;
  }

  /**
   * Opens a chunk. Without a meta file, it is a new chunk without videos.
   *
   * @param options How to decode frames (`decode`, `colorspace`), and the form of the meta file.
   * @throws {FormatError} If the meta file is damaged.
   */
  static async load<const Decode extends GulpOptions["decode"]>(
    dataPath: string | URL,
    metaPath: string | URL,
    options: GulpOptions<Decode> & WaitOptions = {},
  ): Promise<GulpChunk<FrameOf<Decode>>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    const steps = openSteps(dataPath, metaPath, options);
    return new GulpChunk(await runAsync(steps, options.signal), decoder);
  }

  /** Synchronous version of {@linkcode GulpChunk.load}. */
  static loadSync<const Decode extends GulpOptions["decode"]>(
    dataPath: string | URL,
    metaPath: string | URL,
    options: GulpOptions<Decode> = {},
  ): GulpChunk<FrameOf<Decode>> {
    const decoder = new VideoDecoder<FrameOf<Decode>>(options);
    return new GulpChunk(
      runSync(openSteps(dataPath, metaPath, options)),
      decoder,
    );
  }

  /** Path of the `.gulp` file. */
  get dataPath(): string {
    return this.#chunk.dataPath;
  }

  /** Path of the `.gmeta` file. */
  get metaPath(): string {
    return this.#chunk.meta.path;
  }

  /** Number of videos. */
  get length(): number {
    return this.#chunk.meta.length;
  }

  /** Content of the meta file by id, in file order (Python's `meta_dict`); entries are made on access. */
  get metaDict(): ReadonlyMap<string, VideoMeta> {
    const { meta } = this.#chunk;
    return new LazyMap(meta, (video) => new StoredVideoMeta(meta, video));
  }

  /** Whether there is a video with this id (Python's `in`). */
  has(id: VideoId): boolean {
    return this.#chunk.meta.find(String(id)) >= 0;
  }

  /**
   * Opens the data file for reading, as in Python. Reading opens it by itself, so this only checks that it exists.
   *
   * @returns A handle for a `using` block; the chunk can be read before and after it as well.
   * @throws {RecordfsError} If there is no data file.
   */
  open(mode?: "rb"): Disposable;
  /**
   * Opens the chunk for writing: `wb` starts it anew, `ab` adds to it. Cuts off data that the meta file does not name,
   * left by a process that was killed while appending. Existing content of the meta file stays: JSON byte for byte, a
   * pickle opcode by opcode.
   *
   * {@linkcode GulpChunk.flush} makes appended videos part of the chunk. Until then, readers find the earlier chunk, or
   * none if it is new.
   *
   * @returns A handle for an `await using` block, whose end drops what was not flushed, with a warning.
   * @throws {FormatError} If a chunk to add to is damaged.
   * @throws {WriteError} If it cannot be written.
   *
   * @example Write a chunk
   * ```ts
   * import { GulpChunk } from "@recordfs/recordfs/gulp";
   * import assert from "node:assert/strict";
   *
   * const dir = await Deno.makeTempDir();
   * const pixels = new Uint8Array(64 * 48 * 3);
   * const frame = { data: pixels, height: 48, width: 64, channels: 3 } as const;
   * using chunk = await GulpChunk.load(`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`);
   * {
   *   await using _ = await chunk.open("wb");
   *   await chunk.append("black", { label: "none" }, [frame, frame]);
   *   await chunk.flush();
   * }
   * const { frames, meta } = await chunk.readFrames("black", { start: 1 });
   * assert.equal(frames[0]?.width, 64);
   * assert.deepEqual(meta, { label: "none" });
   * ```
   */
  open(
    mode: "wb" | "ab",
    options?: WaitOptions,
  ): Promise<AsyncDisposable & Disposable>;
  open(
    mode: "rb" | "wb" | "ab" = "rb",
    options: WaitOptions = {},
  ): Disposable | Promise<AsyncDisposable & Disposable> {
    if (mode !== "rb") {
      return runAsync(this.#openOutput(mode), options.signal);
    }
    if (this.#chunk.data === undefined) {
      throw new RecordfsError(
        "ENOENT",
        `Cannot open ${this.dataPath}: there is no such file`,
        { path: this.dataPath },
      );
    }
    return { [Symbol.dispose]() {} };
  }

  /** Synchronous version of `open` for writing. */
  openSync(mode: "wb" | "ab"): AsyncDisposable & Disposable {
    return runSync(this.#openOutput(mode));
  }

  /**
   * Appends a video. Frames and metadata of an existing video are added to it; readers still show its first metadata.
   * Calls without `await` keep their order.
   *
   * Metadata read from a chunk or by `parseJson` is written with its original text as far as it is unchanged: `1.0`
   * stays a float, and keys keep their order. In other objects, a number without a fraction is an integer, and keys
   * that look like integers come first.
   *
   * @param frames Pixels, which are encoded with quality 90, or JPEGs, which are stored unchanged; may be empty. They
   *   are written as they arrive; if one fails, nothing of the video is appended.
   * @throws {TypeError} If a frame is not an image, or the metadata is not plain data.
   * @throws {WriteError} If the chunk is not open for writing, or the system refuses.
   */
  async append(
    id: VideoId,
    meta: { readonly [key: string]: JsonValue },
    frames: Iterable<Image | Uint8Array> | AsyncIterable<Image | Uint8Array>,
    options: WaitOptions = {},
  ): Promise<void> {
    const output = this.#opened();
    await output.append(String(id), formatVideoMeta(meta), frames, options);
  }

  /** Synchronous version of {@linkcode GulpChunk.append}; frames must be JPEGs. */
  appendSync(
    id: VideoId,
    meta: { readonly [key: string]: JsonValue },
    frames: Iterable<Image | Uint8Array>,
  ): void {
    this.#opened().appendSync(String(id), formatVideoMeta(meta), frames);
  }

  /**
   * Makes all appended videos part of the chunk: the data is on disk before the new meta file replaces the old one. The
   * chunk then reads as written.
   *
   * @throws {WriteError} If the system refuses; the flush can be retried.
   */
  async flush(): Promise<void> {
    const output = this.#opened();
    await output.flush();
    await runAsync(this.#reload());
  }

  /** Synchronous version of {@linkcode GulpChunk.flush}. */
  flushSync(): void {
    this.#opened().flushSync();
    runSync(this.#reload());
  }

  /** Ends writing and drops what was not flushed, without a warning. */
  abort(): void {
    this.#output?.abort();
  }

  /**
   * Reads frames of a video, and its metadata.
   *
   * @param id Id of the video.
   * @param selection Frames to read: a slice or indices as in Python; all by default.
   * @throws {UnknownIdError} If there is no such video.
   * @throws {IndexError} If there is no such frame.
   * @throws {FormatError} If a selected frame is damaged.
   */
  async readFrames(
    id: VideoId,
    selection?: FrameSelection,
    options: WaitOptions = {},
  ): Promise<Video<Frame>> {
    return await this.#decoder.decode(
      await this.readRaw(id, selection, options),
    );
  }

  /** Synchronous version of {@linkcode GulpChunk.readFrames}; the decoder must be synchronous. */
  readFramesSync(id: VideoId, selection?: FrameSelection): Video<Frame> {
    return this.#decoder.decodeSync(this.readRawSync(id, selection));
  }

  /** Like {@linkcode GulpChunk.readFrames}, but returns the stored JPEGs. */
  // deno-lint-ignore require-await -- its errors must reach the caller as a rejection
  async readRaw(
    id: VideoId,
    selection?: FrameSelection,
    options: WaitOptions = {},
  ): Promise<Video<Uint8Array<ArrayBuffer>>> {
    return runAsync(
      this.#chunk.readVideo(this.#find(id), selection),
      options.signal,
    );
  }

  /** Synchronous version of {@linkcode GulpChunk.readRaw}. */
  readRawSync(
    id: VideoId,
    selection?: FrameSelection,
  ): Video<Uint8Array<ArrayBuffer>> {
    return runSync(this.#chunk.readVideo(this.#find(id), selection));
  }

  /**
   * Reads videos one by one, in the order of the meta file.
   *
   * @example Some videos, mixed
   * ```ts
   * import { GulpChunk } from "@recordfs/recordfs/gulp";
   *
   * const dir = "test/golden/gulp/v2_integer_ids/gulp";
   * using chunk = await GulpChunk.load(`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`);
   * for await (const { frames } of chunk.iterAll({ shuffle: true, seed: 7 })) {
   *   for (const { data, height, width, channels } of frames) data.fill(height * width * channels);
   * }
   * ```
   */
  async *iterAll(
    options: WaitOptions & {
      /** Restricts iteration to these ids; the order stays that of the chunk. */
      readonly acceptedIds?: Iterable<VideoId> | undefined;
      /** Whether to shuffle the videos. */
      readonly shuffle?: boolean | undefined;
      /** Seed of the shuffle; random by default. */
      readonly seed?: number | undefined;
    } = {},
  ): AsyncGenerator<Video<Frame>, void, undefined> {
    for (const video of videosInOrder(this.#chunk.meta, options)) {
      const raw = await runAsync(
        this.#chunk.readVideo(video, undefined),
        options.signal,
      );
      yield await this.#decoder.decode(raw);
    }
  }

  /** Synchronous version of {@linkcode GulpChunk.iterAll}; the decoder must be synchronous. */
  *iterAllSync(
    options: Omit<
      NonNullable<Parameters<GulpChunk["iterAll"]>[0]>,
      keyof WaitOptions
    > = {},
  ): Generator<Video<Frame>, void, undefined> {
    for (const video of videosInOrder(this.#chunk.meta, options)) {
      yield this.#decoder.decodeSync(
        runSync(this.#chunk.readVideo(video, undefined)),
      );
    }
  }

  /** Reads all videos. */
  [Symbol.asyncIterator](): AsyncGenerator<Video<Frame>, void, undefined> {
    return this.iterAll();
  }

  /** Reads all videos synchronously. */
  [Symbol.iterator](): Generator<Video<Frame>, void, undefined> {
    return this.iterAllSync();
  }

  /** Closes the chunk's files. Drops what was not flushed, with a warning. */
  close(): void {
    this.#closed = true;
    this.#output?.[Symbol.dispose]();
    this.#chunk.close();
  }

  /** Closes the chunk's files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#openOutput(mode: "wb" | "ab"): Steps<ChunkOutput> {
    if (mode !== "wb" && mode !== "ab") {
      throw new TypeError(
        `The mode must be 'rb', 'wb' or 'ab', not '${mode}'`,
      );
    }
    return this.#output = yield* ChunkOutput.open(
      this.#chunk,
      mode,
      this.#output,
      () =>
        this.onWarning(
          `Cannot keep what was appended to ${this.dataPath}: it was not ` +
            "flushed. Call flush() after the last video, or abort()",
        ),
    );
  }

  #opened(): ChunkOutput {
    return this.#output ?? ChunkOutput.refuse(this.dataPath);
  }

  *#reload(): Steps<void> {
    const { dataPath, meta, options } = this.#chunk;
    const chunk = yield* OpenedChunk.open(dataPath, meta.path, options, true);
    this.#chunk.close();
    this.#chunk = chunk;
    if (this.#closed) chunk.close();
  }

  #find(id: VideoId): number {
    const video = this.#chunk.meta.find(String(id));
    if (video < 0) throw new UnknownIdError(String(id), this.metaPath);
    return video;
  }
}

function openSteps(
  dataPath: string | URL,
  metaPath: string | URL,
  options: GulpOptions,
): Steps<OpenedChunk> {
  const { paths, storage } = allStoredAt([dataPath, metaPath], options);
  const { serializer } = options;
  return OpenedChunk.open(paths[0]!, paths[1]!, { serializer, storage }, true);
}
