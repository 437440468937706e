import type { ValueType } from "../codecs/values/value_type.ts";

/** What a node is, besides a file or a directory: a video's frames, a sample, or values. */
export type NodeView =
  /** Directory whose first entries are the frames of a video, in order. */
  | {
    /** Discriminant of the view. */
    readonly kind: "clip";
    /** Number of frames. */
    readonly frames: number;
    /** Name of a JSON file in the directory with the video's metadata. */
    readonly meta: string | undefined;
  }
  /**
   * Directory that is a sample: its entries are values, or directories of values if those are lists. Directories
   * without a view group values.
   */
  | {
    /** Discriminant of the view. */
    readonly kind: "datapoint";
  }
  /** Value of a sample, or a directory of values. */
  | {
    /** Discriminant of the view. */
    readonly kind: "value";
    /** Key of the value in the sample, if it differs from its file name. */
    readonly key?: string | undefined;
    /** Type of the value; of a directory, the type of its values. */
    readonly type: ValueType;
    /** Whether it is a directory of such values. */
    readonly isList: boolean;
    /**
     * Whether the value is null if its file is empty, as an empty text is. Absent if a null has bytes of its own.
     *
     * @throws {NotLoaded} If the answer is not loaded yet.
     */
    readonly isNull?: (() => boolean) | undefined;
  };

/** View of a video's frames. */
export type ClipView = Extract<NodeView, { readonly kind: "clip" }>;

/** View of a sample. */
export type DatapointView = Extract<NodeView, { readonly kind: "datapoint" }>;

/** View of a value. */
export type ValueView = Extract<NodeView, { readonly kind: "value" }>;

/** Makes the view of a value from its type and the node's own properties. */
export function valueView(
  type: ValueType,
  added: Partial<Omit<ValueView, "kind" | "type">> = {},
): ValueView {
  return { kind: "value", type, isList: false, ...added };
}

/**
 * Decodes a value as `type` of its node's {@linkcode NodeView} says: to a text, number (a bigint beyond 2^53), picture,
 * array, or plain data. Videos and unknown types stay bytes.
 *
 * @param bytes The result may retain and share this memory.
 * @throws A description of what is wrong with the bytes.
 */
export async function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  { decoding }: ValueType,
): Promise<unknown> {
  const { decodeAs } = await import("../codecs/values/decode_value.ts");
  return await decodeAs(decoding, bytes);
}
