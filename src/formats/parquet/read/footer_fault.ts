import type { FormatError } from "../../../base/errors.ts";
import { brief, exactNumber } from "./footer_message.ts";

/** Fault of a footer. Callers that know the file convert it to a {@linkcode FormatError}. */
export class FooterFault extends Error {
  readonly code: FormatError["code"];

  constructor(
    why: string,
    code: FormatError["code"] = "bad-structure",
    cause?: unknown,
  ) {
    super(why, { cause });
    this.code = code;
  }
}

export function encryptedFault(what: string): FooterFault {
  return new FooterFault(
    `${what} encrypted, which is unsupported. Decrypt it with what ` +
      "wrote it, such as pyarrow with its keys",
    "unsupported",
  );
}

/** Validates a number of a footer: it must be an exact non-negative integer. */
export function wholeNumber(value: unknown, what: string): number {
  const number = exactNumber(value);
  if (number !== undefined && number >= 0) return number;
  const why = `its footer says that the ${what} is ${brief(value)}`;
  throw new FooterFault(why, "absurd-count");
}
