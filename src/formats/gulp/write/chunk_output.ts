import * as fs from "node:fs";
import { FormatError, WriteError } from "../../../errors.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { WritableFile } from "../../../io/write/writable_file.ts";
import { writeError } from "../../../io/write/write_error.ts";
import { CollectedMeta, shortDataError } from "../meta/collected_meta.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import { RecordOutput } from "./record_output.ts";
import type { SerializerChoice } from "../meta/serializer.ts";

/**
 * Writes a chunk's two files.
 *
 * The data are on the disk before a meta file names them. A new chunk's files have temporary names
 * until they are complete; then first the data file appears, then the meta file. Where a chunk is
 * appended to, its meta file stays the old one until all is written; bytes in the data file that no
 * meta file names are what a killed process left, and are cut off by the next one that appends.
 */
export class ChunkOutput {
  readonly #dataPath: string;
  readonly #metaPath: string;
  readonly #meta: CollectedMeta;
  /** The data file under its temporary name, until it is published. */
  #newData: NewFile | undefined;
  #data: WritableFile;
  #records: RecordOutput;
  /** Where the data end that the meta file on the disk names. */
  #flushed: number;
  #frames: number[] | undefined;
  #closed = false;

  private constructor(
    chunk: OpenedChunk,
    meta: CollectedMeta,
    data: NewFile | WritableFile,
    end: number,
  ) {
    this.#dataPath = chunk.dataPath;
    this.#metaPath = chunk.meta.path;
    this.#meta = meta;
    this.#newData = data instanceof NewFile ? data : undefined;
    this.#data = data instanceof NewFile ? data.file : data;
    this.#records = new RecordOutput(this.#data, end);
    this.#flushed = end;
  }

  /** Starts a chunk anew (mode `wb`). */
  static *create(
    chunk: OpenedChunk,
    serializer: SerializerChoice,
  ): Steps<ChunkOutput> {
    const data = yield* NewFile.create(chunk.dataPath);
    return new ChunkOutput(chunk, CollectedMeta.empty(serializer), data, 0);
  }

  /**
   * Continues a chunk (mode `ab`); one without files is started.
   *
   * @throws {FormatError} If one of its files is missing, cut or damaged.
   */
  static *extend(
    chunk: OpenedChunk,
    serializer: SerializerChoice,
  ): Steps<ChunkOutput> {
    const { dataPath, data, meta } = chunk;
    if (data === undefined && meta.length === 0) {
      return yield* ChunkOutput.create(chunk, serializer);
    }
    if (data === undefined) {
      throw new FormatError(
        "missing-data",
        `Cannot append to ${dataPath}: it is missing, and ${meta.path} names ` +
          `frames in it; open it with mode 'wb' to start it anew`,
        { path: dataPath },
      );
    }
    if (meta.size === 0) {
      throw new FormatError(
        "missing-meta",
        `Cannot append to ${dataPath}: it has no meta file ${meta.path}; ` +
          `open it with mode 'wb' to start it anew`,
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
      if (size < end) throw shortDataError(dataPath, end, size);
      if (size > end) yield* file.truncate(end);
      return new ChunkOutput(chunk, collected, file, end);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** How many videos were written, those from before among them. */
  get length(): number {
    return this.#meta.length;
  }

  /** Bytes of data so far, padding included. */
  get bytes(): number {
    return this.#records.end;
  }

  /**
   * Begins a video: its frames follow, then {@linkcode endVideo} or {@linkcode dropVideo}.
   *
   * @throws {FormatError} If it is there, in a form that takes no more.
   */
  *beginVideo(id: string): Steps<void> {
    this.#meta.requireRoom(id);
    this.#frames = [];
    if (this.#newData !== undefined || !this.#data.closed) return;
    this.#data = yield* WritableFile.open(this.#dataPath); // published by a flush
    this.#records = new RecordOutput(this.#data, this.#records.end);
  }

  /** Writes a frame of the video begun. */
  *writeFrame(jpeg: Uint8Array): Steps<void> {
    yield* this.#records.record(jpeg, this.#frames!);
  }

  /** Ends the video begun: a flush will name it. */
  endVideo(id: string, metaJson: string): void {
    this.#meta.add(id, metaJson, this.#frames!);
    this.#frames = undefined;
  }

  /** Drops the frames of the video begun. */
  dropVideo(): void {
    const [first] = this.#frames ?? [];
    this.#frames = undefined;
    if (first !== undefined) this.#records.takeBack(first);
  }

  /**
   * Makes all videos that were ended part of the chunk. Not to be given up half-way: run it without
   * a signal.
   */
  *flush(): Steps<void> {
    if (!this.#data.closed) {
      yield* this.#records.finish();
      yield* this.#data.sync();
    }
    const meta = yield* NewFile.create(this.#metaPath);
    try {
      yield* meta.file.writeAt(this.#meta.dump(), 0);
      yield* meta.file.sync();
      this.#assertOpen();
      this.#flushed = this.#records.end; // from here on, closing drops none of it
      if (this.#newData !== undefined) yield* this.#publishData(this.#newData);
    } catch (error) {
      meta.discard();
      throw error;
    }
    yield* meta.publish();
  }

  /** Drops what was not flushed, and closes the files. */
  *close(): Steps<void> {
    this.#closed = true;
    this.#newData?.discard();
    if (this.#data.closed) return;
    try {
      if (this.#records.reached > this.#flushed) {
        yield* this.#data.truncate(this.#flushed);
      }
    } finally {
      this.#data.close();
    }
  }

  /** A meta file of before must not stand beside data that it does not describe. */
  *#publishData(data: NewFile): Steps<void> {
    this.#newData = undefined; // closing must not take away what is being published
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

  /** A file that was closed meanwhile has lost what was not flushed. */
  #assertOpen(): void {
    if (!this.#closed) return;
    throw new WriteError(
      "closed",
      `Cannot write ${this.#dataPath}: it was closed before it was flushed; await flush()`,
      { path: this.#dataPath },
    );
  }
}
