import { decodeText, parseExactJson } from "../../../codecs/json/value.ts";
import type { ValueKind, ValueView } from "../../../tree/node_view.ts";
import type { Shown } from "../values/column_names.ts";
import type { Field } from "../values/schema.ts";

/** Bytes of the largest value that becomes objects, and of the largest other one, to be shown. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

const IMAGES = /\.(jpe?g|png|gif|webp|bmp|avif|svg)$/i;
const VIDEOS = /\.(mp4|webm|mov|m4v)$/i;

/**
 * Describes a cell for viewers.
 *
 * @param isNull Whether it is null.
 */
export function cellView(
  column: Field,
  shown: Shown,
  name: string,
  key: string,
  isNull: () => boolean,
): ValueView {
  const holds = heldBy(column, shown, name);
  const isJson = holds === "number" || holds === "tree";
  return {
    kind: "value",
    key: key === name ? undefined : key,
    type: typeName(column),
    holds,
    isList: false,
    largest: isJson ? LARGEST_TREE : LARGEST,
    decode(bytes) {
      if (isJson) return Promise.resolve(parseExactJson(decodeText(bytes)));
      return Promise.resolve(holds === "text" ? decodeText(bytes) : bytes);
    },
    isNull,
    decoding: isJson ? "json" : holds === "text" ? "utf8" : "bytes",
  };
}

function heldBy({ meaning }: Field, shown: Shown, name: string): ValueKind {
  if (shown === "text") return "text";
  if (shown === "json-text") return "tree";
  if (shown === "json") {
    const isNumber = meaning.is === "integer" || meaning.is === "float" ||
      meaning.is === "half";
    return isNumber ? "number" : "tree";
  }
  if (IMAGES.test(name)) return "image";
  return VIDEOS.test(name) ? "video" : "bytes";
}

/** A column's type in a word or two, as `int64`, `list<string>`, `struct<bytes, path>`. */
export function typeName(field: Field): string {
  const name = bareName(field);
  return field.repetition === "REPEATED" ? `list<${name}>` : name;
}

function bareName({ meaning, type, parts, length }: Field): string {
  switch (meaning.is) {
    case "integer":
      return `${meaning.unsigned ? "u" : ""}${type!.toLowerCase()}`;
    case "float":
      return type!.toLowerCase();
    case "bytes":
      return type === "BYTE_ARRAY" ? "bytes" : `bytes of ${length}`;
    case "list": {
      const [repeated] = parts;
      const inner = repeated?.parts.length === 1 ? repeated.parts[0] : repeated;
      return inner === undefined ? "list" : `list<${bareName(inner)}>`;
    }
    case "group":
      return `struct<${parts.map(({ name }) => name).join(", ")}>`;
    default:
      return meaning.is;
  }
}
