import type { JsonValue } from "../../../codecs/json/value.ts";
import { WriteError } from "../../../errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { SerialQueue } from "../../../io/concurrency/serial_queue.ts";
import { ChunkOutput } from "./chunk_output.ts";
import { formatVideoMeta } from "../meta/collected_meta.ts";
import {
  type FrameData,
  type Frames,
  jpegOf,
  jpegOfSync,
} from "./frame_data.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import type { SerializerChoice } from "../meta/serializer.ts";

/** A chunk that is open for writing, one video at a time. */
export class OpenChunkOutput implements Disposable, AsyncDisposable {
  readonly #path: string;
  readonly #output: ChunkOutput;
  readonly #queue: SerialQueue;
  #ended = false;

  private constructor(path: string, output: ChunkOutput) {
    this.#path = path;
    this.#output = output;
    this.#queue = new SerialQueue(path);
  }

  /**
   * Opens a chunk.
   *
   * @param before What it was opened as before: it must have ended.
   */
  static *open(
    chunk: OpenedChunk,
    mode: "wb" | "ab",
    before: OpenChunkOutput | undefined,
  ): Steps<OpenChunkOutput> {
    const { dataPath } = chunk;
    if (before !== undefined && !before.#ended) {
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
    const output = mode === "wb"
      ? yield* ChunkOutput.create(chunk, serializer)
      : yield* ChunkOutput.extend(chunk, serializer);
    return new OpenChunkOutput(dataPath, output);
  }

  /** Refuses to write to a chunk that is not open for it. */
  static refuse(path: string): never {
    throw new WriteError(
      "closed",
      `Cannot write ${path}: open the chunk with mode 'wb' or 'ab' first`,
      { path },
    );
  }

  /** Bytes of data so far, padding included. */
  get bytes(): number {
    return this.#output.bytes;
  }

  append(
    id: string,
    meta: { readonly [key: string]: JsonValue },
    frames: Frames,
    { signal }: WaitOptions,
  ): Promise<void> {
    return this.#queue.take(async () => {
      this.#assertOpen();
      const output = this.#output;
      const json = formatVideoMeta(meta);
      await runAsync(output.beginVideo(id), signal);
      try {
        for await (const frame of frames) {
          const jpeg = await jpegOf(frame);
          this.#assertOpen();
          await runAsync(output.writeFrame(jpeg), signal);
        }
        signal?.throwIfAborted();
        this.#assertOpen();
      } catch (error) {
        output.dropVideo();
        throw error;
      }
      output.endVideo(id, json);
    });
  }

  appendSync(
    id: string,
    meta: { readonly [key: string]: JsonValue },
    frames: Iterable<FrameData>,
  ): void {
    this.#assertIdle();
    const output = this.#output;
    const json = formatVideoMeta(meta);
    runSync(output.beginVideo(id));
    try {
      for (const frame of frames) {
        runSync(output.writeFrame(jpegOfSync(frame)));
      }
    } catch (error) {
      output.dropVideo();
      throw error;
    }
    output.endVideo(id, json);
  }

  flush(): Promise<void> {
    return this.#queue.take(async () => {
      this.#assertOpen();
      await runAsync(this.#output.flush());
    });
  }

  flushSync(): void {
    this.#assertIdle();
    runSync(this.#output.flush());
  }

  /** Drops what was not flushed. */
  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    runSync(this.#output.close());
  }

  /** Waits for what is under way, then drops what was not flushed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    await this.#queue.take(() => Promise.resolve()).catch(() => {});
    this[Symbol.dispose]();
  }

  #assertOpen(): void {
    if (this.#ended) OpenChunkOutput.refuse(this.#path);
  }

  #assertIdle(): void {
    this.#assertOpen();
    if (!this.#queue.busy) return;
    throw new WriteError(
      "busy",
      `Cannot write ${this.#path} now: an asynchronous write is under way; await it`,
      { path: this.#path },
    );
  }
}

/** As the caller says, else as the file is kept: meta_data of pickles are text in memory. */
function serializerOf(
  { options: { serializer }, meta }: OpenedChunk,
): SerializerChoice {
  if (serializer !== undefined) return serializer;
  return meta.size > 0 && meta.text instanceof MemorySource ? "pickle" : "json";
}
