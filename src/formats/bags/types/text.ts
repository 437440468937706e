import { bytesOf } from "../../../base/bytes_of.ts";
import { ValueError } from "./value_error.ts";
import { strictUtf8Text } from "../../../base/utf8.ts";

/** Encodes the type `bytes`: the value itself. Throws a `TypeError` if it is neither a view nor a buffer. */
export function encodeBytes(value: unknown): Uint8Array {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes;
  throw new TypeError(
    `A value of type 'bytes' must be a Uint8Array or a buffer, not a ${typeof value}`,
  );
}

/** Encodes the type `utf8`. Throws a `TypeError` for a lone surrogate, which UTF-8 cannot encode. */
export function encodeUtf8(value: string): Uint8Array<ArrayBuffer> {
  if (typeof value === "string" && value.isWellFormed()) {
    return new TextEncoder().encode(value);
  }
  const found = typeof value === "string"
    ? "one with a lone surrogate"
    : `a ${typeof value}`;
  throw new TypeError(`A value of type 'utf8' must be a text, not ${found}`);
}

/** Decodes the type `utf8`. Throws a {@linkcode ValueError} if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch (cause) {
    throw new ValueError(
      "bad-value",
      "utf8",
      "its bytes are not UTF-8: read them as bytes, or write the value again",
      cause,
    );
  }
}
