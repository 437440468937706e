import { messageOf } from "../base/message_text.ts";
import { FormatError } from "../base/errors.ts";
import { decodeAs, decodePortable } from "./values/decode_value.ts";
import {
  extensionIn,
  EXTENSIONS,
  typeOfExtension,
} from "./values/value_type.ts";

/** Decodes a file's bytes to a value, which may retain and share their memory. */
export type SampleDecoder = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/**
 * Decoders by the last extension of a file in lower case (`png` for `seg.png`). Files without a decoder, or with
 * `null`, stay bytes.
 */
export type SampleDecoders = Readonly<
  Record<string, ((bytes: Uint8Array<ArrayBuffer>) => unknown) | null>
>;

// Drops alpha, as WebDataset's `decode("rgb8")`.
const image: SampleDecoder = async (bytes) => {
  const { imageCodec } = await import("./image/choose_codec.ts");
  return await (await imageCodec()).decode(bytes);
};

/** Extensions that WebDataset decodes, and those of other pictures. */
const DECODED =
  "cls cls2 index inx id txt text transcript json jsn jpg jpeg png npy " +
  "avif gif tif tiff webp";

function decoderOf(extension: string): SampleDecoder {
  const { kind, decoding } = typeOfExtension(extension);
  return kind === "image" ? image : (bytes) => decodeAs(decoding, bytes);
}

/**
 * Default decoders of WebDataset 1.0.2: `cls` (also `cls2`, `index`, `inx`, `id`) to an integer, `txt` (`text`,
 * `transcript`) to a string, `json` (`jsn`) to a value as Python reads it (`NaN` is a number, an integer beyond 2^53 a
 * bigint), `npy` to an array; and as its `decode("rgb8")`, `jpg` (`jpeg`) and `png` to an image. Also `webp`, `avif`,
 * `gif` and `tif` (`tiff`), which WebDataset leaves as bytes, to an image.
 */
export const SAMPLE_DECODERS: SampleDecoders = Object.freeze({
  __proto__: null as never, // hides Object.prototype's names
  ...Object.fromEntries(
    DECODED.split(" ").map((word) => [word, decoderOf(word)]),
  ),
});

/** Decoders of all known extensions to values that other formats can store. */
export const PORTABLE_DECODERS: SampleDecoders = {
  __proto__: null as never,
  ...Object.fromEntries(EXTENSIONS.map((word) => {
    const { decoding } = typeOfExtension(word);
    return [word, (bytes) => decodePortable(decoding, bytes)];
  })),
};

/**
 * Decodes a file by its last extension; returns its bytes if that has no decoder.
 *
 * @param name File name, or an extension.
 * @param path The container, for messages.
 * @param place The file in it, for messages.
 * @throws {FormatError} If it cannot be decoded.
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
      `Cannot decode ${place} of ${path}: ${why}`,
      { path, cause },
    );
  }
}
