import { RecordfsError } from "../../errors.ts";

/** A NumPy array is damaged, or of a type that has no counterpart here. */
export class NumpyError extends RecordfsError {
  /** Whether it is damaged or not supported. */
  declare readonly code: "bad-npy" | "unsupported-dtype";

  /** Makes an error about an array. */
  constructor(code: NumpyError["code"], message: string) {
    super(code, message);
  }
}
