import { type FormatError, RecordfsError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { MappedFile } from "../../../io/read/memory_map.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ChunkMeta, SharedMeta } from "../meta/chunk_meta.ts";
import type { ChunkPaths } from "./chunk_files.ts";
import type { RawVideo } from "./decoding.ts";
import { shownId } from "../check/faults.ts";
import { type FrameSelection, selectFrames } from "./frame_selection.ts";
import { emptyMeta, openMeta } from "../meta/open_meta.ts";
import { prefetchFrames, readFrames, readWholeVideo } from "./read_frames.ts";
import type { SerializerChoice } from "../meta/serializer.ts";
import { openFile } from "../../../io/storage/open_file.ts";

export interface ChunkOptions {
  /** Storage of its files. Defaults to the local disk. */
  readonly storage?: Storage | undefined;
  /** Serializer of the meta file; detected from its content by default. */
  readonly serializer?: SerializerChoice | undefined;
}

/** Facts by which another thread opens the same chunk. */
export interface SharedChunk {
  readonly data: KnownFile;
  readonly meta: SharedMeta;
}

/** Open files of a chunk. */
export class OpenedChunk {
  readonly dataPath: string;
  /** Data file, or `undefined` if the chunk is not written yet. */
  readonly data: ByteSource | undefined;
  readonly meta: ChunkMeta;
  readonly options: ChunkOptions;
  #mapped: MappedFile | undefined;

  constructor(
    dataPath: string,
    data: ByteSource | undefined,
    meta: ChunkMeta,
    options: ChunkOptions = {},
  ) {
    this.dataPath = dataPath;
    this.data = data;
    this.meta = meta;
    this.options = options;
  }

  /** Returns a chunk that is not written yet. */
  static empty(
    { dataPath, metaPath }: Pick<ChunkPaths, "dataPath" | "metaPath">,
    options: ChunkOptions,
  ): OpenedChunk {
    const meta = emptyMeta(metaPath);
    return new OpenedChunk(dataPath, undefined, meta, options);
  }

  /** Opens a chunk; with `mayBeNew`, files may be missing. Throws FormatError if the meta is damaged as a whole. */
  static *open(
    dataPath: string,
    metaPath: string,
    options: ChunkOptions = {},
    mayBeNew = false,
  ): Steps<OpenedChunk> {
    const { storage = LOCAL_DISK, serializer } = options;
    const isNew = function* (path: string): Steps<boolean> {
      return mayBeNew && (yield* storage.stat(path)) === undefined;
    };
    const meta = (yield* isNew(metaPath))
      ? emptyMeta(metaPath)
      : yield* openMeta(metaPath, serializer, storage);
    try {
      const data = (yield* isNew(dataPath))
        ? undefined
        : yield* openFile(storage, dataPath);
      return new OpenedChunk(dataPath, data, meta, options);
    } catch (error) {
      meta.close();
      throw error;
    }
  }

  get path(): string {
    return this.dataPath;
  }

  /** Size of the data file in bytes. */
  get dataSize(): number {
    return this.data?.size ?? 0;
  }

  /** Reads frames of a video as stored, without padding, and its meta_data. */
  *readVideo(
    video: number,
    selection: FrameSelection | undefined,
    memory?: BatchRoom,
  ): Steps<RawVideo> {
    const { meta, data } = this;
    let frames = selection === undefined && data !== undefined
      ? yield* readWholeVideo(data, meta.columns, video, memory)
      : undefined;
    if (frames === undefined) {
      const slices = this.slices(video, selection);
      frames = yield* readFrames([data!], slices, memory);
    }
    return { frames, meta: yield* meta.readMeta(video) };
  }

  /**
   * Prefetches frames from a server for {@linkcode OpenedChunk.readVideo}, and returns their bytes. Errors surface on
   * the read itself.
   */
  prefetchVideo(video: number, selection: FrameSelection | undefined): number {
    const { data, meta } = this;
    if (data?.prefetch === undefined) return 0;
    meta.prefetchMeta(video);
    try {
      return prefetchFrames(data, this.slices(video, selection));
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      return 0;
    }
  }

  /** Returns frames of a video as views into a memory map of the data file, and its meta_data. */
  *viewVideo(
    video: number,
    selection: FrameSelection | undefined,
  ): Steps<RawVideo> {
    const slices = this.slices(video, selection);
    this.#mapped ??= new MappedFile(this.#opened());
    const bytes = this.#mapped.bytes();
    const frames = slices.map(({ offset, length }) =>
      bytes.subarray(offset, offset + length)
    );
    return { frames, meta: yield* this.meta.readMeta(video) };
  }

  /** Returns what prevents reading the whole video, if anything. */
  faultOf(video: number): FormatError | undefined {
    const { meta, dataPath, dataSize } = this;
    let fault = meta.fault(video);
    const count = meta.columns.frameCounts[video]!;
    for (let frame = 0; fault === undefined && frame < count; frame++) {
      fault = meta.frameFault(video, frame, dataPath, dataSize);
    }
    return fault;
  }

  share(): SharedChunk {
    const { name: path, size, mtime } = this.#opened();
    return { data: { path, size, mtime }, meta: this.meta.share() };
  }

  close(): void {
    this.#mapped?.close();
    this.data?.close();
    this.meta.close();
  }

  /**
   * Returns the locations of frames of a video in data file number `source`. Throws IndexError if there is no such
   * frame, FormatError if one is damaged.
   */
  slices(
    video: number,
    selection: FrameSelection | undefined,
    source = 0,
  ): Slice[] {
    const { meta, dataPath, dataSize } = this;
    const fault = meta.fault(video);
    if (fault !== undefined) throw fault;
    const count = meta.columns.frameCounts[video]!;
    const name = () => `video ${shownId(meta.id(video))} of ${dataPath}`;
    return selectFrames(selection, count, name).map((frame) => {
      const fault = meta.frameFault(video, frame, dataPath, dataSize);
      if (fault !== undefined) throw fault;
      this.#opened();
      return { source, ...meta.place(video, frame) };
    });
  }

  #opened(): ByteSource {
    if (this.data !== undefined) return this.data;
    throw new RecordfsError(
      "ENOENT",
      `Cannot read ${this.dataPath}: it did not exist when its chunk was opened`,
      { path: this.dataPath },
    );
  }
}
