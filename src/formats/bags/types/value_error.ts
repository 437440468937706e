import { RecordfsError } from "../../../base/errors.ts";

/** A value's bytes or JSON are not what they should be, or its type's arguments mean nothing. */
export class ValueError
  extends RecordfsError<"bad-value" | "bad-json" | "bad-arguments"> {
  /**
   * Makes an error about a value, or the arguments of its type.
   *
   * @param type The word in the spec.
   * @param reason What is wrong: continues "Not a sound 'int': ".
   */
  constructor(
    code: ValueError["code"],
    type: string,
    reason: string,
    cause?: unknown,
  ) {
    const what = {
      "bad-value": `Not a sound '${type}'`,
      "bad-json": `Not a value of type '${type}' in JSON`,
      "bad-arguments":
        `The type '${type}' in spec.json has arguments that mean nothing`,
    }[code];
    super(code, `${what}: ${reason}`, { cause });
  }
}
