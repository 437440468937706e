import { formatJson } from "../../../codecs/json/format.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ChunkMeta } from "./chunk_meta.ts";
import { jsonMetaFile } from "./json_meta.ts";
import type { AddedVideo, MetaFile } from "./meta_file.ts";
import { customMetaFile, openMetaFile } from "./open_meta.ts";
import { emptyPickle, pickledMetaFile } from "./pickled_meta_file.ts";
import { assertPlainJson } from "../../../codecs/json/plain_json.ts";
import { PickledLists, readPickledMeta } from "./read_pickled_meta.ts";
import type { SerializerChoice } from "./serializer.ts";

/** Content of a chunk's `.gmeta`, collected while the chunk is written. */
export class CollectedMeta {
  readonly #file: MetaFile;
  readonly #before: ChunkMeta | undefined;
  readonly #known = new Map<string, AddedVideo>();
  readonly #fresh = new Map<string, AddedVideo>();
  #end: number;

  private constructor(file: MetaFile, before: ChunkMeta | undefined) {
    this.#file = file;
    this.#before = before;
    this.#end = before === undefined ? 0 : endOf(before);
  }

  static empty(serializer: SerializerChoice): CollectedMeta {
    return new CollectedMeta(newFile(serializer), undefined);
  }

  /** Starts with an existing `.gmeta`; throws FormatError if an entry is damaged: then nothing may be appended. */
  static *of(
    path: string,
    serializer: SerializerChoice,
  ): Steps<CollectedMeta> {
    const { meta, file } = yield* openMetaFile(path, serializer);
    return new CollectedMeta(file, meta);
  }

  get length(): number {
    return (this.#before?.length ?? 0) + this.#fresh.size;
  }

  /** End of the last record in bytes. */
  get end(): number {
    return this.#end;
  }

  /** Throws FormatError if a video exists in a form that cannot be extended. */
  requireRoom(id: string): void {
    if (this.#isKnown(id)) this.#file.requireRoom?.(id);
  }

  /** Adds a video, or appends frames and metadata to an existing one. */
  add(id: string, metaJson: string, frames: readonly number[]): void {
    const videos = this.#isKnown(id) ? this.#known : this.#fresh;
    const video = videos.get(id) ?? { frames: [], metaData: [] };
    videos.set(id, video);
    video.metaData.push(metaJson);
    for (const number of frames) video.frames.push(number);
    for (let i = 0; i < frames.length; i += 3) {
      this.#end = Math.max(this.#end, frames[i]! + frames[i + 2]!);
    }
  }

  dump(): Uint8Array {
    return this.#file.with(this.#known, this.#fresh);
  }

  #isKnown(id: string): boolean {
    return this.#before !== undefined && this.#before.find(id) >= 0;
  }
}

function newFile(serializer: SerializerChoice): MetaFile {
  if (serializer === "json") return jsonMetaFile();
  if (serializer !== "pickle") return customMetaFile(serializer, []);
  const bytes = emptyPickle();
  const lists = new PickledLists();
  readPickledMeta(bytes, lists);
  return pickledMetaFile("", bytes, lists);
}

/** @throws {FormatError} If a video or a frame is damaged. */
function endOf(meta: ChunkMeta): number {
  const { offsets, lengths, firstFrames, frameCounts } = meta.columns;
  let end = 0;
  for (let video = 0; video < meta.length; video++) {
    const fault = meta.fault(video);
    if (fault !== undefined) throw fault;
    for (let frame = 0; frame < frameCounts[video]!; frame++) {
      const fault = meta.frameFault(video, frame, "", Infinity);
      if (fault !== undefined) throw fault;
      const row = firstFrames[video]! + frame;
      end = Math.max(end, offsets[row]! + lengths[row]!);
    }
  }
  return end;
}

/** Formats a video's metadata as JSON; throws TypeError if it is not an object of plain data. */
export function formatVideoMeta(
  meta: { readonly [key: string]: JsonValue },
): string {
  if (meta === null || typeof meta !== "object" || Array.isArray(meta)) {
    throw new TypeError("The meta data of a video must be an object");
  }
  assertPlainJson(meta);
  return formatJson(meta);
}
