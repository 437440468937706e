import { formatJson } from "../../../codecs/json/format.ts";
import { parseJson } from "../../../codecs/json/value.ts";
import { encodeId } from "../ids/id_text.ts";
import { MetaBuilder } from "./meta_builder.ts";
import { FrameFault, VideoFault } from "./meta_columns.ts";
import type { AddedVideo, MetaFile } from "./meta_file.ts";
import type { MetaWithText } from "./read_pickled_meta.ts";
import type { GulpSerializer, MetaEntries, VideoMeta } from "./serializer.ts";

/** Takes what a user's own serializer read, meta_data as JSON text. */
export function readCustomMeta(entries: MetaEntries): MetaWithText {
  const builder = new MetaBuilder(0);
  const encoder = new TextEncoder();
  const texts: Uint8Array[] = [];
  let start = 0;
  for (const [key, { frameInfo, metaData }] of entries) {
    const id = encodeId(String(key));
    builder.beginVideo(id, 0, id.length);
    const firstFrame = builder.frames.length;
    for (const [loc, pad, size, ...more] of frameInfo) {
      const fits = [loc, pad, size].every(Number.isInteger) &&
        more.length === 0;
      if (fits) builder.frames.push(loc, pad, size);
      else builder.frames.pushFault(FrameFault.NO_TRIPLE);
    }
    const items = metaData.map((item) => formatJson(item));
    const list = encoder.encode(items.join(", "));
    const { length } = encoder.encode(items[0]);
    const listLength = list.length;
    const place = { start, length, listLength, count: items.length };
    texts.push(list);
    start += listLength;
    const isObject = metaData[0] !== null && typeof metaData[0] === "object" &&
      !Array.isArray(metaData[0]);
    builder.endVideo(
      firstFrame,
      place,
      isObject ? VideoFault.NONE : VideoFault.NO_META_DATA,
    );
  }
  const text = new Uint8Array(start);
  let at = 0;
  for (const part of texts) {
    text.set(part, at);
    at += part.length;
  }
  return { builder, text };
}

/** A `.gmeta` of a user's own serializer, which gets again the very values it made. */
export class CustomMetaFile implements MetaFile {
  readonly #serializer: GulpSerializer;
  /** By ids as texts, with the ids that the serializer has. */
  readonly #videos: ReadonlyMap<string, readonly [string, VideoMeta]>;

  /** @param entries What the serializer loaded; it can be read again and again. */
  constructor(serializer: GulpSerializer, entries: MetaEntries) {
    this.#serializer = serializer;
    this.#videos = new Map(
      Array.from(entries, ([id, meta]) => [String(id), [id, meta]]),
    );
  }

  requireRoom(): void {}

  with(added: ReadonlyMap<string, AddedVideo>): Uint8Array {
    const videos = new Map(this.#videos);
    for (const [id, video] of added) {
      const [ownId, known] = videos.get(id) ?? [id, undefined];
      videos.set(id, [ownId, {
        frameInfo: [...known?.frameInfo ?? [], ...video.frameInfo()],
        metaData: [
          ...known?.metaData ?? [],
          ...video.metaData.map((text) => parseJson(text)),
        ],
      }]);
    }
    return this.#serializer.dump(videos.values());
  }
}
