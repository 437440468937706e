import type { ValueKind, ValueView } from "../../../tree/node_view.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import type { ValueType } from "../dataset/spec.ts";

/** What the types hold that bags and granular ship. */
const HOLDS: Readonly<Record<string, ValueKind>> = {
  __proto__: null as never, // types are any words
  array: "array",
  arraytree: "tree", // of generation 1
  i64: "number",
  int: "number",
  jpeg: "image",
  jpg: "image",
  mp4: "video",
  msgpack: "tree",
  png: "image",
  tree: "tree",
  u64: "number",
  utf8: "text",
  webm: "video",
};

/** What decodes the types; a mount never loads it. */
const DECODER = import.meta.resolve("../types/decode_value.ts");

/** Bytes of the largest value that becomes objects, and of the largest other one, to be shown. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

/** Describes a value by its type; those of types that nobody knows are bytes. */
export function valueView(
  type: ValueType,
  generation: Generation,
  isList: boolean,
): ValueView {
  const isOwn = type.name === "arraytree" && generation !== 1;
  const holds = isOwn ? "bytes" : HOLDS[type.name] ?? "bytes";
  const isMedia = holds === "image" || holds === "video" || holds === "bytes";
  return {
    kind: "value",
    type: type.word,
    holds,
    isList,
    largest: holds === "tree" ? LARGEST_TREE : LARGEST,
    async decode(bytes) {
      if (isMedia) return bytes;
      const { decodeValue } = await import("../types/decode_value.ts");
      return await decodeValue(bytes, generation, type.name, type.args);
    },
    decoding: isMedia
      ? "bytes"
      : type.name === "msgpack"
      ? "msgpack"
      : { module: DECODER, args: [generation, type.name, type.args] },
  };
}
