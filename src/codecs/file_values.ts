import { messageOf } from "../base/message_text.ts";
import { FormatError } from "../base/errors.ts";
import { decodeAs, decodePortable } from "./values/decode_value.ts";
import {
  extensionIn,
  EXTENSIONS,
  typeOfExtension,
} from "./values/value_type.ts";

/** Makes a value of a file's bytes; it may keep and share their memory. */
export type SampleDecoder = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/**
 * Decoders by the last extension of files, in small letters: that of `seg.png` is `png`. Files that have none, or `null`,
 * are bytes.
 */
export type SampleDecoders = Readonly<Record<string, SampleDecoder | null>>;

/** A sample of WebDataset whose files were decoded, by their extensions. */
export interface WebSample {
  /** What its files have in common: their path up to the first dot of the last name. */
  readonly __key__: string;
  /** What the file with that extension was decoded to. */
  readonly [extension: string]: unknown;
}

// Without what is transparent in it, as WebDataset's `decode("rgb8")`.
const image: SampleDecoder = async (bytes) => {
  const { imageCodec } = await import("./image/choose_codec.ts");
  return await (await imageCodec()).decode(bytes);
};

/** The files that WebDataset decodes, of those whose extensions tell what they are. */
const DECODED =
  "cls cls2 index inx id txt text transcript json jsn jpg jpeg png npy";

function decoderOf(extension: string): SampleDecoder {
  const { kind, decoding } = typeOfExtension(extension);
  return kind === "image" ? image : (bytes) => decodeAs(decoding, bytes);
}

/**
 * The usual decoders of WebDataset 1.0.2: `cls` (also `cls2`, `index`, `inx`, `id`) to a whole number, `txt` (`text`,
 * `transcript`) to a text, `json` (`jsn`) to a value as Python reads it (`NaN` is a number, an integer beyond 2^53 a
 * bigint), `npy` to an array; and as its `decode("rgb8")` does, `jpg` (`jpeg`) and `png` to an image.
 */
export const SAMPLE_DECODERS: SampleDecoders = Object.freeze({
  __proto__: null as never, // no word is a name of `Object`'s
  ...Object.fromEntries(
    DECODED.split(" ").map((word) => [word, decoderOf(word)]),
  ),
});

/** Decoders of all known extensions to what other formats can store. */
export const PORTABLE_DECODERS: SampleDecoders = {
  __proto__: null as never,
  ...Object.fromEntries(EXTENSIONS.map((word) => {
    const { decoding } = typeOfExtension(word);
    return [word, (bytes) => decodePortable(decoding, bytes)];
  })),
};

/**
 * Decodes a file by its last extension; it is its bytes where there is no decoder.
 *
 * @param name Its name, or an extension.
 * @param path The container, for messages.
 * @param place The file in it.
 * @throws {FormatError} If it can't be decoded.
 */
export async function decodeFile(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  decoders: SampleDecoders,
  path: string,
  place: string,
): Promise<unknown> {
  const word = extensionIn(name);
  const decode = Object.hasOwn(decoders, word) ? decoders[word] : undefined;
  try {
    return decode ? await decode(bytes) : bytes;
  } catch (cause) {
    const why = messageOf(cause);
    throw new FormatError(
      "bad-value",
      `${path}: ${place} can't be decoded: ${why}`,
      { path, cause },
    );
  }
}
