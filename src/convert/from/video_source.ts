import type { JsonValue } from "../../codecs/json/value.ts";
import type { UnfitError } from "../conversion.ts";

/** Video to write; its frames are JPEGs, which are copied unchanged. */
export interface NewVideo {
  /** Unique id of the video. */
  readonly id: string;
  /** Name of the video in messages. */
  readonly name: string;
  /** Metadata; an object if it is to be written as one. */
  readonly meta: JsonValue;
  /** Encoded frames in order, each valid until the next is requested. */
  readonly frames: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Videos of a source. */
export interface VideoSource {
  /** Number of videos, if known. */
  readonly total: number | undefined;
  /** Content of `label2idx.json`, and its path. */
  readonly labels:
    | { readonly path: string; readonly bytes: Uint8Array }
    | undefined;
  /** Counts videos without frames. */
  countEmpty(): number;
  /** Yields the videos, or why one cannot be read. */
  read(options: { readonly signal?: AbortSignal | undefined }): AsyncIterable<
    NewVideo | UnfitError
  >;
}
