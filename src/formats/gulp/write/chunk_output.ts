import * as fs from "node:fs";
import { FormatError, WriteError } from "../../../base/errors.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { SerialQueue } from "../../../io/concurrency/serial_queue.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import {
  GatheredBytes,
  LARGEST_BUFFER,
} from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { WritableFile } from "../../../io/write/writable_file.ts";
import { writeError } from "../../../io/write/write_error.ts";
import { CollectedMeta } from "../meta/collected_meta.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import type { SerializerChoice } from "../meta/serializer.ts";
import {
  type FrameData,
  type Frames,
  jpegOf,
  jpegOfSync,
} from "./frame_data.ts";

/**
 * A chunk open for writing, one video at a time.
 *
 * The data is on disk before a meta file names it. Files of a new chunk have temporary names until they are complete;
 * then the data file appears first, and the meta file second. While a chunk is appended to, its old meta file stays
 * until all is written. Bytes of the data file that no meta file names were left by a killed process, and the next
 * append cuts them off.
 */
export class ChunkOutput implements Disposable, AsyncDisposable {
  readonly #dataPath: string;
  readonly #metaPath: string;
  readonly #meta: CollectedMeta;
  readonly #queue: SerialQueue;
  readonly #onLost: (() => void) | undefined;
  /** Whether an appended video is not flushed yet. */
  #isUnsaved = false;
  /** Data file under its temporary name, until it is published. */
  #newData: NewFile | undefined;
  #data: WritableFile;
  #records: ChunkRecordOutput;
  /** End of the data that the meta file on disk names. */
  #flushed: number;
  #closed = false;

  private constructor(
    { dataPath, meta }: OpenedChunk,
    collected: CollectedMeta,
    data: NewFile | WritableFile,
    onLost: (() => void) | undefined,
  ) {
    const { end } = collected;
    this.#dataPath = dataPath;
    this.#metaPath = meta.path;
    this.#meta = collected;
    this.#queue = new SerialQueue(dataPath);
    this.#onLost = onLost;
    this.#newData = data instanceof NewFile ? data : undefined;
    this.#data = data instanceof NewFile ? data.file : data;
    this.#records = new ChunkRecordOutput(this.#data, end);
    this.#flushed = end;
  }

  /**
   * Opens a chunk anew (mode `wb`) or to continue it (`ab`); both start a chunk without files.
   *
   * @param before Earlier output of the chunk, which must have ended.
   * @param onLost Called if the output is disposed before appended videos are flushed.
   * @throws {FormatError} If a file of a chunk to continue is missing, cut or damaged.
   */
  static *open(
    chunk: OpenedChunk,
    mode: "wb" | "ab",
    before: ChunkOutput | undefined,
    onLost?: () => void,
  ): Steps<ChunkOutput> {
    const { dataPath, data, meta } = chunk;
    if (before !== undefined && !before.#closed) {
      throw new WriteError(
        "busy",
        `Cannot open ${dataPath}: the chunk is open for writing already`,
        { path: dataPath },
      );
    }
    if ((chunk.options.storage ?? LOCAL_DISK) !== LOCAL_DISK) {
      throw new WriteError(
        "EROFS",
        `Cannot write ${dataPath}: chunks are written to the local disk only`,
        { path: dataPath },
      );
    }
    const serializer = serializerOf(chunk);
    if (mode === "wb" || data === undefined && meta.length === 0) {
      const newData = yield* NewFile.create(dataPath);
      const empty = CollectedMeta.empty(serializer);
      return new ChunkOutput(chunk, empty, newData, onLost);
    }
    if (data === undefined) {
      throw new FormatError(
        "missing-data",
        `Cannot append to ${dataPath}: it is missing, and ${meta.path} ` +
          "names frames in it. Open it with mode 'wb' to start again",
        { path: dataPath },
      );
    }
    if (meta.size === 0) {
      throw new FormatError(
        "missing-meta",
        `Cannot append to ${dataPath}: it has no meta file ${meta.path}. ` +
          "Open it with mode 'wb' to start again",
        { path: dataPath },
      );
    }
    const collected = yield* CollectedMeta.of(meta.path, serializer);
    const { end } = collected;
    const file = yield* WritableFile.open(dataPath);
    try {
      const size = yield* perform({
        sync: () => fs.statSync(dataPath).size,
        async: async () => (await fs.promises.stat(dataPath)).size,
      });
      if (size < end) {
        throw new FormatError(
          "truncated-data",
          `Cannot append to ${dataPath}: it is truncated: it has ${size} ` +
            `bytes, and its meta file names frames up to byte ${end}. Download ` +
            "it again",
          { path: dataPath, expected: end, actual: size },
        );
      }
      if (size > end) yield* file.truncate(end);
      return new ChunkOutput(chunk, collected, file, onLost);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Bytes of data so far, including padding. */
  get bytes(): number {
    return this.#records.end;
  }

  /** Throws the error for a chunk that is not open for writing. */
  static refuse(path: string): never {
    throw new WriteError(
      "closed",
      `Cannot write ${path}: it is not open for writing. Open the chunk ` +
        "with mode 'wb' or 'ab' first",
      { path },
    );
  }

  /** Appends a video, or nothing of it if its frames fail; `metaJson` is one item, or several with separators. */
  append(
    id: string,
    metaJson: string,
    frames: Frames,
    { signal }: WaitOptions,
  ): Promise<void> {
    return this.#queue.take(async () => {
      this.#assertOpen();
      const places: number[] = [];
      await runAsync(this.#beginVideo(id), signal);
      try {
        for await (const frame of frames) {
          const jpeg = await jpegOf(frame);
          this.#assertOpen();
          await runAsync(this.#records.record(jpeg, places), signal);
        }
        signal?.throwIfAborted();
        this.#assertOpen();
      } catch (error) {
        this.#dropVideo(places);
        throw error;
      }
      this.#addVideo(id, metaJson, places);
    });
  }

  appendSync(
    id: string,
    metaJson: string,
    frames: Iterable<FrameData>,
  ): void {
    this.#assertIdle();
    const places: number[] = [];
    runSync(this.#beginVideo(id));
    try {
      for (const frame of frames) {
        runSync(this.#records.record(jpegOfSync(frame), places));
      }
    } catch (error) {
      this.#dropVideo(places);
      throw error;
    }
    this.#addVideo(id, metaJson, places);
  }

  /** Takes no signal: a flush must not be aborted halfway. */
  flush(): Promise<void> {
    this.#isUnsaved = false; // its error reports the loss
    return this.#queue.take(async () => {
      this.#assertOpen();
      await runAsync(this.#flush());
    });
  }

  flushSync(): void {
    this.#assertIdle();
    runSync(this.#flush());
  }

  /** Drops what was not flushed, and reports it. */
  [Symbol.dispose](): void {
    const isLost = !this.#closed && this.#isUnsaved;
    this.abort();
    if (isLost) this.#onLost?.();
  }

  /** Drops what was not flushed. */
  abort(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#newData?.discard();
    if (this.#data.closed) return;
    try {
      if (this.#records.reached > this.#flushed) {
        runSync(this.#data.truncate(this.#flushed));
      }
    } finally {
      this.#data.close();
    }
  }

  /** Waits for pending writes, then drops what was not flushed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    await this.#queue.take(() => Promise.resolve()).catch(() => {});
    this[Symbol.dispose]();
  }

  /** @throws {FormatError} If the video exists in a form that cannot be extended. */
  *#beginVideo(id: string): Steps<void> {
    this.#meta.requireRoom(id);
    if (this.#newData !== undefined || !this.#data.closed) return;
    this.#data = yield* WritableFile.open(this.#dataPath); // the old one was published by a flush
    this.#records = new ChunkRecordOutput(this.#data, this.#records.end);
  }

  #addVideo(id: string, metaJson: string, places: number[]): void {
    this.#meta.add(id, metaJson, places);
    this.#isUnsaved = true;
  }

  #dropVideo([first]: readonly number[]): void {
    if (first !== undefined) this.#records.takeBack(first);
  }

  /** Makes all complete videos part of the chunk. */
  *#flush(): Steps<void> {
    this.#isUnsaved = false;
    if (!this.#data.closed) {
      yield* this.#records.finish();
      yield* this.#data.sync();
    }
    const meta = yield* NewFile.create(this.#metaPath);
    try {
      yield* meta.file.writeAt(this.#meta.dump(), 0);
      yield* meta.file.sync();
      this.#assertNotDropped();
      this.#flushed = this.#records.end; // from here on, closing drops none of it
      if (this.#newData !== undefined) yield* this.#publishData(this.#newData);
    } catch (error) {
      meta.discard();
      throw error;
    }
    yield* meta.publish();
  }

  /** Removes the old meta file first: it must not exist next to data that it does not describe. */
  *#publishData(data: NewFile): Steps<void> {
    this.#newData = undefined; // closing must not discard it during publication
    try {
      yield* this.#removeMeta();
      yield* data.publish();
    } catch (error) {
      this.#newData = data;
      if (this.#closed) data.discard();
      throw error;
    }
  }

  *#removeMeta(): Steps<void> {
    try {
      yield* perform({
        sync: () => fs.rmSync(this.#metaPath, { force: true }),
        async: () => fs.promises.rm(this.#metaPath, { force: true }),
      });
    } catch (error) {
      throw writeError(this.#metaPath, error);
    }
  }

  /** Throws if the file was closed meanwhile, which drops what was not flushed. */
  #assertNotDropped(): void {
    if (!this.#closed) return;
    throw new WriteError(
      "closed",
      `Cannot write ${this.#dataPath}: it was closed before it was ` +
        "flushed. Await flush()",
      { path: this.#dataPath },
    );
  }

  #assertOpen(): void {
    if (this.#closed) ChunkOutput.refuse(this.#dataPath);
  }

  #assertIdle(): void {
    this.#assertOpen();
    if (!this.#queue.busy) return;
    throw new WriteError(
      "busy",
      `Cannot write ${this.#dataPath} now: an asynchronous write is under ` +
        "way. Await it",
      { path: this.#dataPath },
    );
  }
}

/** Returns the caller's choice, or else that of the file: only pickles have their meta_data in memory. */
function serializerOf(
  { options: { serializer }, meta }: OpenedChunk,
): SerializerChoice {
  if (serializer !== undefined) return serializer;
  return meta.size > 0 && meta.text instanceof MemorySource ? "pickle" : "json";
}

/** Padding of records to a multiple of 4 bytes. */
const ZEROS = new Uint8Array(3);

/** Writes consecutive records to a data file. */
class ChunkRecordOutput extends GatheredBytes {
  /** Furthest byte that may have been written, including dropped records. */
  get reached(): number {
    return this.furthest;
  }

  /** Writes a record, buffered until {@linkcode finish}; adds its loc, pad, and length with padding to `frames`. */
  *record(bytes: Uint8Array, frames: number[]): Steps<void> {
    const padding = ZEROS.subarray(0, -bytes.length & 3);
    const length = bytes.length + padding.length;
    const place = [this.end, padding.length, length];
    if (length > this.room) yield* this.flush();
    if (length > LARGEST_BUFFER) {
      yield* this.write(bytes);
      yield* this.write(padding);
    } else {
      this.add(bytes);
      this.add(padding);
    }
    frames.push(...place);
  }

  /** Completes the file, so that it holds all records and nothing else. */
  *finish(): Steps<void> {
    yield* this.flush();
    if (this.furthest <= this.end) return;
    yield* this.file.truncate(this.end);
    this.furthest = this.end;
  }
}
