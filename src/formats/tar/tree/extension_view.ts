import type {
  ValueDecoding,
  ValueKind,
  ValueView,
} from "../../../tree/node_view.ts";

/** What files hold by the last extension, as WebDataset takes them. */
const HOLDS: Readonly<Record<string, ValueKind>> = {
  __proto__: null as never, // extensions are any words
  ...all("number", "cls cls2 index inx id"),
  ...all("text", "txt text transcript"),
  ...all("tree", "json jsn"),
  ...all("image", "jpg jpeg png webp gif"),
  ...all("array", "npy"),
  ...all("video", "mp4 webm"),
};

function all(holds: ValueKind, words: string): Record<string, ValueKind> {
  return Object.fromEntries(words.split(" ").map((word) => [word, holds]));
}

/** Bytes of the largest value that becomes objects, and of the largest other one, to be shown. */
const LARGEST_TREE = 16 << 20;
const LARGEST = 64 << 20;

/** Describes a file of a sample by what stands behind the first dot of its name. */
export function extensionView(extension: string): ValueView {
  const word = extension.slice(extension.lastIndexOf(".") + 1).toLowerCase();
  const holds = HOLDS[word] ?? "bytes";
  return {
    kind: "value",
    type: word,
    holds,
    isList: false,
    largest: holds === "tree" ? LARGEST_TREE : LARGEST,
    async decode(bytes) {
      // Loaded where somebody looks: a mount needs no decoder.
      if (holds === "tree") {
        const { decodeText, parseExactJson } = await import(
          "../../../codecs/json/value.ts"
        );
        return parseExactJson(decodeText(bytes)); // as Python wrote it: all digits, NaN
      }
      const isShown = holds === "image" || holds === "video";
      return isShown ? bytes : await decodeValue(bytes, word);
    },
    decoding: decodingOf(word, holds),
  };
}

function decodingOf(word: string, holds: ValueKind): ValueDecoding {
  switch (holds) {
    case "tree":
      return "json";
    case "array":
      return "npy";
    case "text":
      return "utf8";
    case "number":
      return { module: import.meta.url, args: [word] };
    default:
      return "bytes";
  }
}

/** Decodes a file by its extension. */
export async function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  word: string,
): Promise<unknown> {
  const { SAMPLE_DECODERS } = await import("../../../codecs/file_values.ts");
  const decode = SAMPLE_DECODERS[word];
  return decode ? await decode(bytes) : bytes;
}
