import { RecordfsError } from "../../base/errors.ts";

/** A pickle is damaged, or asks for something that is never done. */
export class PickleError extends RecordfsError<"bad-pickle" | "unsafe-pickle"> {
  /** Byte offset in the pickle at which reading stopped. */
  declare readonly offset: number;

  /** Makes an error about the place at `offset`. */
  constructor(code: PickleError["code"], offset: number, message: string) {
    super(code, message, { offset });
  }
}
