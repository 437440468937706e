import type { JsonValue } from "../../codecs/json/value.ts";
import type { UnfitError } from "../conversion.ts";

/** A video to be written; its frames are JPEGs, which stay as they are. */
export interface NewVideo {
  /** What the video is called; no two have the same. */
  readonly id: string;
  /** What messages call it. */
  readonly name: string;
  /** An object, where it is to be written as one. */
  readonly meta: JsonValue;
  /** Encoded frames, in their order, each good until the next is asked for. */
  readonly frames: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Videos that a source has. */
export interface VideoSource {
  /** How many, where that is known. */
  readonly total: number | undefined;
  /** Content of `label2idx.json`, and where it was found. */
  readonly labels:
    | { readonly path: string; readonly bytes: Uint8Array }
    | undefined;
  /** Counts those without frames. */
  countEmpty(): number;
  /** The videos, or why one can't be read. */
  read(options: { readonly signal?: AbortSignal | undefined }): AsyncIterable<
    NewVideo | UnfitError
  >;
}
