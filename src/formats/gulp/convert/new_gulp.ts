import { ImageError } from "../../../codecs/image/image_error.ts";
import {
  FORMAT_NAMES,
  readImageHeader,
} from "../../../codecs/image/image_header.ts";
import { GulpChunk } from "../read/chunk.ts";
import { newChunkPaths } from "../read/chunk_files.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { type Run, UnfitError } from "../../../convert/conversion.ts";
import type { NewVideo } from "../../../convert/from/video_source.ts";
import { LABEL_FILE, writeLabels } from "../../../convert/label_file.ts";

export interface NewGulp {
  readonly videosPerChunk: number;
  /** Content of `label2idx.json`. */
  readonly labels?: Uint8Array | undefined;
  readonly videos: AsyncIterable<NewVideo | UnfitError>;
}

/** Writes a directory of chunks, which appears whole or not at all; returns the number of videos. */
export async function writeGulp(
  target: string,
  { videosPerChunk, labels, videos }: NewGulp,
  run: Run,
): Promise<number> {
  const { signal } = run;
  return await NewDirectory.write(target, signal, async (directory) => {
    const chunks = new Chunks(directory, videosPerChunk, run);
    try {
      for await (const video of videos) {
        signal?.throwIfAborted();
        await chunks.append(video);
      }
      await chunks.finish();
    } finally {
      chunks.letGo();
    }
    if (labels !== undefined) writeLabels(directory, LABEL_FILE, labels);
    return chunks.videos;
  });
}

class Chunks {
  videos = 0;
  readonly #directory: string;
  readonly #videosPerChunk: number;
  readonly #run: Run;
  readonly #ids = new Set<string>();
  #chunk: GulpChunk<Uint8Array> | undefined;
  #number = 0;
  #inChunk = 0;

  constructor(directory: string, videosPerChunk: number, run: Run) {
    this.#directory = directory;
    this.#videosPerChunk = videosPerChunk;
    this.#run = run;
  }

  async append(video: NewVideo | UnfitError): Promise<void> {
    if (video instanceof UnfitError) {
      return this.#run.leaveOut(video.message, video);
    }
    const { id, name, meta, frames } = video;
    if (this.#ids.has(id)) {
      const shown = JSON.stringify(id);
      return this.#run.leaveOut(`${name}: its id ${shown} occurs twice`);
    }
    if (typeof meta !== "object" || meta === null || Array.isArray(meta)) {
      return this.#run.leaveOut(`${name}: its metadata are not an object`);
    }
    const chunk = await this.#room();
    const { signal } = this.#run;
    try {
      await chunk.append(id, meta, jpegsOnly(frames), { signal });
    } catch (error) {
      if (!(error instanceof UnfitError)) throw error;
      return this.#run.leaveOut(`${name}: ${error.message}`, error);
    }
    this.#ids.add(id);
    this.#inChunk++;
    this.#run.tell(++this.videos);
  }

  /** Completes the last chunk. Writes at least one: a directory without chunks would not be GulpIO. */
  async finish(): Promise<void> {
    if (this.#number === 0) await this.#room();
    await this.#endChunk();
  }

  letGo(): void {
    this.#chunk?.abort(); // the original error is reported
    this.#chunk?.close();
  }

  async #room(): Promise<GulpChunk<Uint8Array>> {
    if (this.#inChunk === this.#videosPerChunk) await this.#endChunk();
    if (this.#chunk !== undefined) return this.#chunk;
    const { dataPath, metaPath } = newChunkPaths(
      this.#directory,
      this.#number++,
    );
    this.#chunk = await GulpChunk.load(dataPath, metaPath, { decode: false });
    await this.#chunk.open("wb", { signal: this.#run.signal });
    return this.#chunk;
  }

  async #endChunk(): Promise<void> {
    await this.#chunk?.flush();
    this.letGo();
    this.#chunk = undefined;
    this.#inChunk = 0;
  }
}

/** Frames are stored unchanged, so anything but a JPEG is rejected. */
async function* jpegsOnly(
  frames: NewVideo["frames"],
): AsyncGenerator<Uint8Array, void, undefined> {
  let number = 0;
  for await (const frame of frames) {
    const problem = problemOf(frame);
    if (problem !== undefined) {
      throw new UnfitError(
        `its frame ${number} cannot be stored as a JPEG: ${problem}`,
      );
    }
    number++;
    yield frame;
  }
}

function problemOf(frame: Uint8Array): string | undefined {
  try {
    const { format } = readImageHeader(frame);
    if (format !== "jpeg") return `its format is ${FORMAT_NAMES[format]}`;
  } catch (error) {
    if (error instanceof ImageError) return error.message;
    throw error;
  }
  const { length } = frame;
  const isWhole = frame[length - 2] === 0xff && frame[length - 1] === 0xd9;
  return isWhole ? undefined : "it does not end with FF D9";
}
