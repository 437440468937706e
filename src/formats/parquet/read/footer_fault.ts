import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { brief, exactNumber } from "./footer_message.ts";

/** An error of a file whose footer can't be read. */
export function footerFault(
  { name: path }: ByteSource,
  why: string,
  code: FormatErrorCode = "bad-structure",
  cause?: unknown,
): FormatError {
  const way = code === "bad-structure" || code === "out-of-bounds"
    ? "; fetch or write the file again"
    : "";
  return new FormatError(code, `${path} can't be read: ${why}${way}`, {
    path,
    cause,
  });
}

/** An error of a file that is encrypted, or a part of which is. */
export function encryptedFault(source: ByteSource, what: string): FormatError {
  return footerFault(
    source,
    `${what} encrypted, which is not read: decrypt it with what wrote it, as pyarrow with its keys`,
    "unsupported",
  );
}

/** A number of a footer, which has to be whole and exact. */
export function wholeNumber(
  source: ByteSource,
  value: unknown,
  what: string,
): number {
  const number = exactNumber(value);
  if (number !== undefined && number >= 0) return number;
  throw footerFault(
    source,
    `its footer says that the ${what} is ${brief(value)}`,
    "absurd-count",
  );
}
