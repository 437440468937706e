import { messageOf } from "../../../base/message_text.ts";
import { FormatError } from "../../../base/errors.ts";

/** What is wrong with a value; whoever knows where it is makes an error of it. */
export class ValueFault extends TypeError {
  override name = "ValueFault";
}

/** Where a value is. */
export interface ValuePlace {
  /** The shard. */
  readonly path: string;
  /** Number of the sample in the whole dataset. */
  readonly sample: number;
  readonly column: string;
}

/** The error for a value that can't be read. */
export function badValue(
  { path, sample, column }: ValuePlace,
  cause: unknown,
): FormatError {
  const why = messageOf(cause);
  return new FormatError(
    "bad-value",
    `${path}: '${column}' of sample ${sample} can't be decoded: ${why}; it is damaged, or was written by another program`,
    { path, sample, cause },
  );
}

/** {@linkcode badValue} of what is wrong with a value; any other error is itself. */
export function asBadValue(place: ValuePlace, error: unknown): unknown {
  return error instanceof ValueFault ? badValue(place, error) : error;
}
