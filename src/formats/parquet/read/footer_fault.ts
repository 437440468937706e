import type { FormatErrorCode } from "../../../base/errors.ts";
import { brief, exactNumber } from "./footer_message.ts";

/** Why a file can't be read, by its footer; who knows the file makes an error of it. */
export class FooterFault extends Error {
  readonly code: FormatErrorCode;

  constructor(
    why: string,
    code: FormatErrorCode = "bad-structure",
    cause?: unknown,
  ) {
    super(why, { cause });
    this.code = code;
  }
}

/** The fault of a file that is encrypted, or a part of which is. */
export function encryptedFault(what: string): FooterFault {
  return new FooterFault(
    `${what} encrypted, which is not read: decrypt it with what wrote it, as pyarrow with its keys`,
    "unsupported",
  );
}

/** A number of a footer, which has to be whole and exact. */
export function wholeNumber(value: unknown, what: string): number {
  const number = exactNumber(value);
  if (number !== undefined && number >= 0) return number;
  const why = `its footer says that the ${what} is ${brief(value)}`;
  throw new FooterFault(why, "absurd-count");
}
