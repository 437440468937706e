import { RecordfsError } from "../../../base/errors.ts";

/** A value's bytes or JSON are malformed, or its type's arguments are invalid. */
export class ValueError
  extends RecordfsError<"bad-value" | "bad-json" | "bad-arguments"> {
  /**
   * Creates an error about a value, or the arguments of its type.
   *
   * @param type Type word of the spec.
   * @param reason What is wrong: continues "Not a sound 'int': ".
   */
  constructor(
    code: ValueError["code"],
    type: string,
    reason: string,
    cause?: unknown,
  ) {
    const what = {
      "bad-value": `Not a valid '${type}'`,
      "bad-json": `Not valid JSON of a value of type '${type}'`,
      "bad-arguments": `Not valid arguments of the type '${type}' in spec.json`,
    }[code];
    super(code, `${what}: ${reason}`, { cause });
  }
}
