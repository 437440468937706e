import type { JsonValue } from "../../../codecs/json/value.ts";

/** Content of a `.gmeta` file for one video. */
export interface VideoMeta {
  /**
   * Location of each frame's JPEG in the `.gulp` file (Python's `ImgInfo`): byte offset of the record, bytes of padding
   * at its end, and its length in bytes, including padding.
   */
  readonly frameInfo: Iterable<
    readonly [loc: number, pad: number, length: number]
  >;
  /** Metadata, one item each time that the video was appended; readers use the first. */
  readonly metaData: readonly JsonValue[];
}

/** Location of a frame's JPEG. */
export type FrameInfo = VideoMeta["frameInfo"] extends Iterable<infer Info>
  ? Info
  : never;

/** Custom form of `.gmeta` files other than JSON and pickles (Python's `AbstractSerializer`). */
export interface GulpSerializer {
  /** Parses the content of a `.gmeta` file: the videos, by id and in file order. */
  load(bytes: Uint8Array): Iterable<readonly [id: string, meta: VideoMeta]>;
  /** Formats the content of a `.gmeta` file: the videos, by id and in file order. */
  dump(entries: Iterable<readonly [id: string, meta: VideoMeta]>): Uint8Array;
}

/** Content of a `.gmeta` file. */
export type MetaEntries = ReturnType<GulpSerializer["load"]>;

/** Serializer of `.gmeta` files. */
export type SerializerChoice = "json" | "pickle" | GulpSerializer;
