import { formatJson } from "../../../codecs/json/format.ts";
import { parseJson } from "../../../codecs/json/value.ts";
import { formatVideo } from "./json_meta.ts";
import { frameInfoOf, type MetaFile } from "./meta_file.ts";
import type { GulpSerializer, MetaEntries, VideoMeta } from "./serializer.ts";

/** What a user's own serializer read, as a `.gmeta` in JSON. */
export function jsonOfEntries(entries: MetaEntries): Uint8Array {
  const videos = Array.from(entries, ([id, { frameInfo, metaData }]) => {
    const items = metaData.map((item) => formatJson(item));
    return formatVideo(String(id), frameInfo, items);
  });
  return new TextEncoder().encode(`{${videos.join(", ")}}`);
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
