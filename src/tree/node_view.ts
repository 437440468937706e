/** What the content of a value is, whatever its type is called. */
export type ValueKind =
  | "array"
  | "bytes"
  | "image"
  | "number"
  | "text"
  | "tree"
  | "video";

/** A directory whose first entries are the frames of a video, in order. */
export interface ClipView {
  /** Which of the views it is. */
  readonly kind: "clip";
  /** How many there are. */
  readonly frames: number;
  /** The name of a file in the directory that says, as JSON, what is known of the video. */
  readonly meta: string | undefined;
}

/**
 * A directory that is a row: its entries are values, or directories of values where those are lists; directories that
 * have no view gather values.
 */
export interface DatapointView {
  /** Which of the views it is. */
  readonly kind: "datapoint";
}

/** A value of a datapoint, or a directory of such. */
export interface ValueView {
  /** Which of the views it is. */
  readonly kind: "value";
  /** What the datapoint calls it, where that is not the name of its file. */
  readonly key?: string | undefined;
  /** As the container calls it. */
  readonly type: string;
  /** What it is, whatever the type is called. */
  readonly holds: ValueKind;
  /** Whether it is a directory of such values. */
  readonly isList: boolean;
  /** Bytes of a value that is decoded at most: a larger one would take too much memory. */
  readonly largest: number;
  /**
   * Makes a value of its bytes; of a picture or a video, these are it.
   *
   * @throws If they are none of the type.
   */
  decode(bytes: Uint8Array<ArrayBuffer>): Promise<unknown>;
  /**
   * Whether the value is null where its file is empty, as an empty text is. Left out where a null has bytes of its own.
   *
   * @throws {NotLoaded} If that has to be waited for.
   */
  isNull?(): boolean;
  /** How another thread does the same as {@linkcode ValueView.decode}, so that a server answers others meanwhile. */
  readonly decoding?: ValueDecoding | undefined;
}

/** How the bytes of a value are decoded: not at all, as what the word says, or by code of the format. */
export type ValueDecoding =
  | "bytes"
  | "json"
  | "msgpack"
  | "npy"
  | "pickle"
  | "utf8"
  | ValueDecoder;

/** Where any thread finds what decodes a value. */
export interface ValueDecoder {
  /** URL of a module that exports `decodeValue(bytes, ...args)`, which throws if the bytes are none of the type. */
  readonly module: string;
  /** Arguments that survive `postMessage`. */
  readonly args: readonly unknown[];
}

/** What a node of a tree is, beside a file or a directory. */
export type NodeView = ClipView | DatapointView | ValueView;
