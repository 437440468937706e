import type { ValueType } from "../codecs/values/value_type.ts";

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
  /** What it is; of a directory, what its values are. */
  readonly type: ValueType;
  /** Whether it is a directory of such values. */
  readonly isList: boolean;
  /**
   * Whether the value is null where its file is empty, as an empty text is. Left out where a null has bytes of its own.
   *
   * @throws {NotLoaded} If that has to be waited for.
   */
  readonly isNull?: (() => boolean) | undefined;
}

/** What a node of a tree is, beside a file or a directory. */
export type NodeView = ClipView | DatapointView | ValueView;

/** Makes the view of a value: its type, and what the node adds to it. */
export function valueView(
  type: ValueType,
  added: Partial<Omit<ValueView, "kind" | "type">> = {},
): ValueView {
  return { kind: "value", type, isList: false, ...added };
}

/**
 * Decodes a value, as {@linkcode ValueView.type} of its node says: to a text, number (a bigint beyond 2^53), picture,
 * array, or plain data; videos, and what nobody knows, stay bytes.
 *
 * @param bytes May be kept, and their memory shared.
 * @throws What is wrong with the bytes.
 */
export async function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  { decoding }: ValueType,
): Promise<unknown> {
  const { decodeAs } = await import("../codecs/values/decode_value.ts");
  return await decodeAs(decoding, bytes);
}
