import { RecordfsError } from "../../../errors.ts";

/** The bytes of a value are not what its type says, or its type's arguments mean nothing. */
export class ValueError extends RecordfsError {
  /** Whether it is the bytes, or the arguments that the spec gives the type. */
  declare readonly code: "bad-value" | "bad-arguments";

  /**
   * @param type The word in the spec.
   * @param reason What is wrong: continues "Not a sound 'int': ".
   */
  constructor(
    code: ValueError["code"],
    type: string,
    reason: string,
    cause?: unknown,
  ) {
    const what = code === "bad-value"
      ? `Not a sound '${type}'`
      : `The type '${type}' in spec.json has arguments that mean nothing`;
    super(code, `${what}: ${reason}`, { cause });
  }
}
