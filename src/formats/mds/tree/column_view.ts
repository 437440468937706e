import type { ValueDecoding, ValueView } from "../../../tree/node_view.ts";
import type { Encoding, ListEncoding } from "../encodings/encoding.ts";
import type { Column } from "../read/index_file.ts";

/** Bytes of the largest value that becomes objects, and of the largest other one, to be shown. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

/** Describes the files of a column, of which some are made of its values; of a list, its directory. */
export function columnView({ name, encoding }: Column): ValueView {
  const { list, word } = encoding;
  return list === undefined
    ? valueView(encoding, name)
    : { ...elementView(list), key: name, type: word, isList: true };
}

/** Describes the files of a list. */
export function elementView({ element }: ListEncoding): ValueView {
  return valueView(element, undefined);
}

function valueView(encoding: Encoding, key: string | undefined): ValueView {
  const { word, form, holds } = encoding;
  return {
    kind: "value",
    key,
    type: word,
    holds,
    isList: false,
    largest: holds === "tree" ? LARGEST_TREE : LARGEST,
    async decode(bytes) {
      if (holds === "image" || holds === "bytes") return bytes;
      if (form === "npy") {
        const { readNpy } = await import("../../../codecs/numpy/npy.ts");
        return readNpy(bytes);
      }
      // Loaded where somebody looks: a mount needs no decoder.
      const { numberIn } = await import("../encodings/decode.ts");
      return form === "json" ? numberIn(bytes) : decodeValue(bytes, encoding);
    },
    decoding: decodingOf(encoding),
  };
}

function decodingOf(encoding: Encoding): ValueDecoding {
  const { form, holds, name } = encoding;
  if (holds === "image" || holds === "bytes") return "bytes";
  if (form === "npy") return "npy";
  if (form === "json" || name === "json") return "json";
  if (name === "pkl") return "pickle";
  return { module: import.meta.url, args: [encoding] };
}

/** Decodes a value of an encoding. */
export async function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: Encoding,
): Promise<unknown> {
  const { decodeValue } = await import("../encodings/decode.ts");
  return await decodeValue(encoding, bytes);
}
