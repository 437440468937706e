import { formatJson } from "../../../codecs/json/format.ts";
import { parseJson } from "../../../codecs/json/value.ts";
import { encodeId } from "../ids/id_text.ts";
import { FrameFault, MetaBuilder, VideoFault } from "./meta_columns.ts";
import { frameInfoOf, type MetaFile } from "./meta_file.ts";
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

/**
 * A `.gmeta` of a user's own serializer, which gets again the very values it made.
 *
 * @param entries What the serializer loaded; it can be read again and again.
 */
export function customMetaFile(
  serializer: GulpSerializer,
  entries: MetaEntries,
): MetaFile {
  return {
    with(known, fresh) {
      /** By ids as texts, with the ids that the serializer has. */
      const videos = new Map<string, readonly [string, VideoMeta]>(
        Array.from(entries, ([id, meta]) => [String(id), [id, meta]]),
      );
      for (const [id, video] of [...known, ...fresh]) {
        const [ownId, before] = videos.get(id) ?? [id, undefined];
        videos.set(id, [ownId, {
          frameInfo: [...before?.frameInfo ?? [], ...frameInfoOf(video)],
          metaData: [
            ...before?.metaData ?? [],
            ...video.metaData.map((text) => parseJson(text)),
          ],
        }]);
      }
      return serializer.dump(videos.values());
    },
  };
}
