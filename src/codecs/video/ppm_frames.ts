import type { NdArray } from "../numpy/mod.ts";
import { VideoError } from "./video_error.ts";

/** How ffmpeg begins each picture (netpbm's PPM): width, height, the largest value. */
const HEAD = /^P6\n(\d{1,9}) (\d{1,9})\n255\n/;

/** The longest that is. */
const LONGEST_HEAD = 32;

/** Gathers a stream of PPM pictures of one size. */
export class PpmFrames {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  /**
   * @param path What errors call the video.
   * @param maxBytes How many bytes are taken.
   */
  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** @throws {VideoError} If the pictures get too large. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= this.#maxBytes) return;
    throw new VideoError(
      "too-large",
      this.#path,
      `its frames take more than ${this.#maxBytes} bytes: raise maxBytes, or take frame by ` +
        "frame with videoFrames",
    );
  }

  /**
   * All pictures as one array.
   *
   * @throws {VideoError} If there is none, or the stream holds something else.
   */
  take(): NdArray & { readonly data: Uint8Array<ArrayBuffer> } {
    if (this.#size === 0) {
      throw new VideoError("no-frames", this.#path, "it has no frames");
    }
    const stream = new Uint8Array(this.#size);
    let end = 0;
    for (const chunk of this.#chunks) {
      stream.set(chunk, end);
      end += chunk.length;
    }
    const head = HEAD.exec(
      new TextDecoder("latin1").decode(stream.subarray(0, LONGEST_HEAD)),
    );
    if (head === null) this.#fail();
    const [width, height] = [Number(head[1]), Number(head[2])];
    const pixels = width * height * 3;
    const step = head[0].length + pixels;
    const count = this.#size / step;
    if (!Number.isInteger(count)) this.#fail();
    // The heads are squeezed out in place.
    for (let i = 0; i < count; i++) {
      const from = i * step + head[0].length;
      stream.copyWithin(i * pixels, from, from + pixels);
    }
    const data = stream.subarray(0, count * pixels);
    return { dtype: "|u1", shape: [count, height, width, 3], data };
  }

  #fail(): never {
    throw new VideoError(
      "video-failed",
      this.#path,
      "ffmpeg wrote something else than pictures of one size",
    );
  }
}
