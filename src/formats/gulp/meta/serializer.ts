import type { JsonValue } from "../../../codecs/json/value.ts";

/** Where a frame's JPEG lies in a `.gulp` file, as `.gmeta` files have it (Python's `ImgInfo`). */
export type FrameInfo = readonly [
  /** Byte offset of its record. */
  loc: number,
  /** Bytes of padding at the record's end. */
  pad: number,
  /** Length of the record in bytes, padding included. */
  length: number,
];

/** What a `.gmeta` file says of one video. */
export interface VideoMeta {
  /** Its frames. */
  readonly frameInfo: Iterable<FrameInfo>;
  /** What was said about it each time it was appended; readers use the first. */
  readonly metaData: readonly JsonValue[];
}

/** What a `.gmeta` file says, video by video, in its order. */
export type MetaEntries = Iterable<readonly [id: string, meta: VideoMeta]>;

/** Another way to keep `.gmeta` files than JSON or pickles (Python's `AbstractSerializer`). */
export interface GulpSerializer {
  /** Reads the content of a `.gmeta` file. */
  load(bytes: Uint8Array): MetaEntries;
  /** Makes the content of a `.gmeta` file. */
  dump(entries: MetaEntries): Uint8Array;
}

/** How `.gmeta` files are kept. */
export type SerializerChoice = "json" | "pickle" | GulpSerializer;
