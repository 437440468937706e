import { basename } from "node:path";
import { FormatError } from "../../../base/errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ReadWindows } from "../../../io/read/read_windows.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { shownId } from "./faults.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";

/** Writers pad records to a multiple of 4 bytes. */
const MOST_PADDING = 3;

/** Frames between two progress reports, at most. */
const FRAMES_PER_REPORT = 4096;

/** Checks the frames of one chunk in file order. */
export class ChunkCheck {
  readonly #chunk: OpenedChunk;
  readonly #onDamage: (damage: FormatError) => void;
  readonly #onProgress: (done: number) => void;
  readonly #windows: ReadWindows;
  readonly #signal: AbortSignal | undefined;
  /** Rows of the frames inside the data file, and the video of each. */
  #rows = new Uint32Array(0);
  #videos = new Uint32Array(0);
  /** Whether frames lie beyond the end of the file, so that its size need not be checked. */
  #isCut = false;
  /** End of the frames checked so far, and the frame that ends there. */
  #end = 0;
  #last = -1;

  /** @param onProgress Called with the number of bytes checked. */
  constructor(
    chunk: OpenedChunk,
    onDamage: (damage: FormatError) => void,
    onProgress: (done: number) => void,
    windows: ReadWindows,
    signal: AbortSignal | undefined,
  ) {
    this.#chunk = chunk;
    this.#onDamage = onDamage;
    this.#onProgress = onProgress;
    this.#windows = windows;
    this.#signal = signal;
  }

  /** Checks the chunk. A read error ends the check. */
  async run(): Promise<void> {
    this.#collect();
    const order = this.#order();
    const { offsets } = this.#chunk.meta.columns;
    for (let i = 0; i < order.length; i++) {
      const frame = order[i]!;
      await this.#checkFrame(frame);
      if (i % FRAMES_PER_REPORT === 0) {
        this.#onProgress(offsets[this.#rows[frame]!]!);
      }
    }
    this.#checkSize();
  }

  /** Reports frames with invalid locations and collects the others. */
  #collect(): void {
    const { meta, dataPath, dataSize } = this.#chunk;
    const { offsets, firstFrames, frameCounts } = meta.columns;
    const total = meta.frameCount;
    this.#rows = new Uint32Array(total);
    this.#videos = new Uint32Array(total);
    let listed = 0;
    for (let video = 0; video < meta.length; video++) {
      const fault = meta.fault(video);
      if (fault !== undefined) this.#onDamage(fault);
      const first = firstFrames[video]!;
      for (let frame = 0; frame < frameCounts[video]!; frame++) {
        const row = first + frame;
        const fault = meta.frameFault(video, frame, dataPath, dataSize);
        if (fault === undefined) {
          this.#rows[listed] = row;
          this.#videos[listed++] = video;
          continue;
        }
        this.#isCut ||= offsets[row]! >= 0;
        this.#onDamage(fault);
      }
    }
    this.#rows = this.#rows.subarray(0, listed);
    this.#videos = this.#videos.subarray(0, listed);
  }

  /** Returns the collected frames in file order. */
  #order(): Uint32Array {
    const { offsets } = this.#chunk.meta.columns;
    const rows = this.#rows;
    const order = new Uint32Array(rows.length);
    let ascends = true;
    for (let i = 0; i < rows.length; i++) {
      order[i] = i;
      ascends &&= i === 0 || offsets[rows[i - 1]!]! <= offsets[rows[i]!]!;
    }
    if (ascends) return order;
    return order.sort((a, b) => offsets[rows[a]!]! - offsets[rows[b]!]!);
  }

  async #checkFrame(frame: number): Promise<void> {
    const { columns } = this.#chunk.meta;
    const row = this.#rows[frame]!;
    const offset = columns.offsets[row]!;
    const length = columns.lengths[row]!;
    const pad = columns.pads[row]!;
    const before = this.#last;
    const overlaps = offset < this.#end && length > 0;
    if (offset + length >= this.#end) this.#last = frame;
    const start = Math.max(this.#end, offset);
    this.#end = Math.max(this.#end, offset + length);
    if (overlaps) {
      // Not read: overlapping frames could make a small file take hours.
      return this.#damage(
        frame,
        "bad-frame-info",
        `it overlaps ${this.#name(before)}, which ends at byte ${start}`,
      );
    }
    if (pad > MOST_PADDING) {
      this.#damage(
        frame,
        "bad-frame-info",
        `it has ${pad} bytes of padding, more than the ${MOST_PADDING} that ` +
          "writers add",
      );
    }
    if (length - pad < 4) {
      return this.#damage(
        frame,
        "truncated-data",
        "it is too short for a JPEG",
      );
    }
    const missing = offset + length - this.#chunk.dataSize;
    if (missing > 0) {
      const name = basename(this.#chunk.dataPath);
      this.#damage(
        frame,
        "truncated-data",
        `the frame record runs past the end of ${name}: ${missing} bytes of ` +
          "padding are missing",
      );
    }
    await this.#checkBytes(frame, offset, length, pad);
  }

  async #checkBytes(
    frame: number,
    offset: number,
    length: number,
    pad: number,
  ): Promise<void> {
    const head = await this.#bytesAt(offset, 2);
    if (head[0] !== 0xff || head[1] !== 0xd8) {
      this.#damage(frame, "bad-frame-info", "it does not start as a JPEG");
    }
    const end = offset + length - pad;
    const there = Math.min(offset + length, this.#chunk.dataSize);
    const padding = Math.min(there - end, MOST_PADDING);
    const tail = await this.#bytesAt(end - 2, 2 + padding);
    if (tail[0] !== 0xff || tail[1] !== 0xd9) {
      this.#damage(frame, "truncated-data", "it does not end as a JPEG");
    }
    if (tail.subarray(2).some((byte) => byte !== 0)) {
      this.#damage(frame, "bad-frame-info", "its padding is not zero");
    }
  }

  /** Returns bytes of the data file; valid until the next call. */
  async #bytesAt(offset: number, length: number): Promise<Uint8Array> {
    const data = this.#chunk.data!;
    const part = this.#windows.peek(data, offset, length);
    if (part.length === length) return part;
    await this.#windows.move(data, offset);
    const moved = this.#windows.peek(data, offset, length);
    return moved.length === length
      ? moved
      : await runAsync(readPart(data, offset, length), this.#signal);
  }

  /** Same check as in the original libraries, but with the frame that ends last instead of the last one written. */
  #checkSize(): void {
    const { dataPath, dataSize, meta } = this.#chunk;
    if (this.#isCut || dataSize <= this.#end) return;
    this.#onDamage(
      new FormatError(
        "bad-meta",
        `Cannot verify ${dataPath}: it has ${dataSize} bytes, but all ` +
          `frames in ${meta.path} end at byte ${this.#end}: the meta file is ` +
          "older, or not its own",
        { path: dataPath, expected: this.#end, actual: dataSize },
      ),
    );
  }

  #damage(
    frame: number,
    code: "bad-frame-info" | "truncated-data",
    what: string,
  ): void {
    const { dataPath, meta } = this.#chunk;
    const offset = meta.columns.offsets[this.#rows[frame]!]!;
    this.#onDamage(
      new FormatError(
        code,
        `Cannot verify ${this.#name(frame)} of ${dataPath} at byte ` +
          `${offset}: ${what}`,
        { path: dataPath, offset, sample: this.#numberOf(frame) },
      ),
    );
  }

  #name(frame: number): string {
    const id = this.#chunk.meta.id(this.#videos[frame]!);
    return `frame ${this.#numberOf(frame)} of video ${shownId(id)}`;
  }

  #numberOf(frame: number): number {
    const { firstFrames } = this.#chunk.meta.columns;
    return this.#rows[frame]! - firstFrames[this.#videos[frame]!]!;
  }
}
