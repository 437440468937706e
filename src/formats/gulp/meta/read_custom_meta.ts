import { formatJson } from "../../../codecs/json/format.ts";
import { encodeId } from "../ids/id_text.ts";
import { MetaBuilder } from "./meta_builder.ts";
import { FrameFault, VideoFault } from "./meta_columns.ts";
import type { MetaWithText } from "./read_pickled_meta.ts";
import type { MetaEntries } from "./serializer.ts";

/** Takes what a user's own serializer read, meta_data as JSON text. */
export function readCustomMeta(entries: MetaEntries): MetaWithText {
  const builder = new MetaBuilder(0);
  const texts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let length = 0;
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
    const items = metaData.map((item) => encoder.encode(formatJson(item)));
    const place = {
      start: length,
      length: items[0]?.length ?? 0,
      listLength: 0,
      count: items.length,
    };
    items.forEach((item, i) => {
      if (i > 0) texts.push(encoder.encode(", "));
      texts.push(item);
      place.listLength += item.length + (i > 0 ? 2 : 0);
    });
    length += place.listLength;
    const isObject = metaData[0] !== null && typeof metaData[0] === "object" &&
      !Array.isArray(metaData[0]);
    builder.endVideo(
      firstFrame,
      place,
      isObject ? VideoFault.NONE : VideoFault.NO_META_DATA,
    );
  }
  const text = new Uint8Array(length);
  let at = 0;
  for (const part of texts) {
    text.set(part, at);
    at += part.length;
  }
  return { builder, text };
}
