import { messageOf } from "../../base/message_text.ts";
import { FormatError } from "../../base/errors.ts";

/** Describes a bad value; a caller that knows its location turns it into a FormatError. */
export class ValueFault extends TypeError {
  override name = "ValueFault";
}

export interface ValuePlace {
  readonly path: string;
  /** Index of the sample in the dataset. */
  readonly sample: number;
  readonly column: string;
}

export function badValue(
  { path, sample, column }: ValuePlace,
  cause: unknown,
): FormatError {
  const why = messageOf(cause);
  return new FormatError(
    "bad-value",
    `Cannot decode '${column}' of sample ${sample} of ${path}: ${why}: ` +
      "it is damaged, or was written by another program",
    { path, sample, cause },
  );
}

/** Turns a {@linkcode ValueFault} into a {@linkcode badValue}; returns other errors unchanged. */
export function asBadValue(place: ValuePlace, error: unknown): unknown {
  return error instanceof ValueFault ? badValue(place, error) : error;
}
