import { parseJson } from "../../../codecs/json/value.ts";
import type { AddedVideo, MetaFile } from "./meta_file.ts";
import type { GulpSerializer, MetaEntries, VideoMeta } from "./serializer.ts";

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
