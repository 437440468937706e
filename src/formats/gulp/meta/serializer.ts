import type { JsonValue } from "../../../codecs/json/value.ts";

/** Location of a frame's JPEG in a `.gulp` file, as in `.gmeta` files (Python's `ImgInfo`). */
export type FrameInfo = readonly [
  /** Byte offset of the record. */
  loc: number,
  /** Bytes of padding at the end of the record. */
  pad: number,
  /** Length of the record in bytes, including padding. */
  length: number,
];

/** Content of a `.gmeta` file for one video. */
export interface VideoMeta {
  /** Locations of the frames. */
  readonly frameInfo: Iterable<FrameInfo>;
  /** Metadata, one item each time that the video was appended; readers use the first. */
  readonly metaData: readonly JsonValue[];
}

/** Content of a `.gmeta` file, video by video in file order. */
export type MetaEntries = Iterable<readonly [id: string, meta: VideoMeta]>;

/** Custom form of `.gmeta` files other than JSON and pickles (Python's `AbstractSerializer`). */
export interface GulpSerializer {
  /** Parses the content of a `.gmeta` file. */
  load(bytes: Uint8Array): MetaEntries;
  /** Formats the content of a `.gmeta` file. */
  dump(entries: MetaEntries): Uint8Array;
}

/** Serializer of `.gmeta` files. */
export type SerializerChoice = "json" | "pickle" | GulpSerializer;
