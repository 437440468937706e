import { formatJson } from "../../codecs/json/format.ts";
import { type JsonValue, parseJson } from "../../codecs/json/value.ts";
import { FormatError } from "../../errors.ts";
import { readPart } from "../../io/read_part.ts";
import type { Steps } from "../../io/steps.ts";
import type { ChunkMeta } from "./chunk_meta.ts";
import { assertPlainJson } from "./plain_json.ts";
import type { FrameInfo, VideoMeta } from "./serializer.ts";
import { StoredVideoMeta } from "./video_meta.ts";

/** What a chunk's `.gmeta` will say, collected while the chunk is written. */
export class CollectedMeta {
  readonly #videos = new Map<string, CollectedVideo>();

  /**
   * Starts with what a `.gmeta` says, to say more.
   *
   * @throws {FormatError} If an entry of it is damaged: nothing may be put behind it then.
   */
  static *of(meta: ChunkMeta): Steps<CollectedMeta> {
    const collected = new CollectedMeta();
    const { metaStarts, metaListLengths } = meta.columns;
    const text = yield* readPart(meta.text, 0, meta.text.size);
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    for (let row = 0; row < meta.length; row++) {
      const fault = meta.fault(row);
      if (fault !== undefined) throw fault;
      const start = metaStarts[row]!;
      const end = start + metaListLengths[row]!;
      const video = new CollectedVideo(
        decoder.decode(text.subarray(start, end)),
      );
      for (const frame of new StoredVideoMeta(meta, row).frameInfo) {
        video.frames.push(...frame);
      }
      collected.#videos.set(meta.id(row), video);
    }
    return collected;
  }

  /** How many videos there are. */
  get length(): number {
    return this.#videos.size;
  }

  /** Where the last record ends, in bytes. */
  get end(): number {
    let end = 0;
    for (const { frames } of this.#videos.values()) {
      for (let i = 0; i < frames.length; i += 3) {
        end = Math.max(end, frames[i]! + frames[i + 2]!);
      }
    }
    return end;
  }

  /** The videos by their ids, in the order of the file. */
  entries(): Iterable<readonly [string, CollectedVideo]> {
    return this.#videos;
  }

  /** Adds a video; one that is there already gets the frames and the meta data besides its own. */
  add(id: string, metaJson: string, frames: readonly number[]): void {
    const known = this.#videos.get(id);
    if (known === undefined) {
      const video = new CollectedVideo(metaJson);
      for (const number of frames) video.frames.push(number);
      this.#videos.set(id, video);
      return;
    }
    known.metaJson = known.metaJson === ""
      ? metaJson
      : `${known.metaJson}, ${metaJson}`;
    for (const number of frames) known.frames.push(number);
  }
}

/** What will be said of one video. */
export class CollectedVideo implements VideoMeta {
  /** Its frames: loc, pad and length of each, one after the other. */
  readonly frames: number[] = [];
  /** The items of its meta_data as JSON, as the file had them, with commas between. */
  metaJson: string;

  constructor(metaJson: string) {
    this.metaJson = metaJson;
  }

  /** Its frames. */
  get frameInfo(): Iterable<FrameInfo> {
    return { [Symbol.iterator]: () => this.#frames() };
  }

  /** The items of its meta_data, parsed at each access. */
  get metaData(): readonly JsonValue[] {
    return parseJson(`[${this.metaJson}]`) as JsonValue[];
  }

  *#frames(): Generator<FrameInfo, undefined, unknown> {
    const { frames } = this;
    for (let i = 0; i < frames.length; i += 3) {
      yield [frames[i]!, frames[i + 1]!, frames[i + 2]!];
    }
    return undefined;
  }
}

/**
 * The meta data of a video as JSON.
 *
 * @throws {TypeError} If it is no object of plain data.
 */
export function formatVideoMeta(
  meta: { readonly [key: string]: JsonValue },
): string {
  if (meta === null || typeof meta !== "object" || Array.isArray(meta)) {
    throw new TypeError("The meta data of a video must be an object");
  }
  assertPlainJson(meta);
  return formatJson(meta);
}

/** The error about a data file that lacks frames which its meta file names. */
export function shortDataError(
  path: string,
  expected: number,
  actual: number,
): FormatError {
  return new FormatError(
    "truncated-data",
    `Cannot append to ${path}: it has ${actual} bytes, and its meta file names ` +
      `frames up to byte ${expected}; it was cut; fetch it again`,
    { path, expected, actual },
  );
}
