import { RecordfsError } from "../../base/errors.ts";

/** A pickle is damaged, or names something that is never executed. */
export class PickleError extends RecordfsError<"bad-pickle" | "unsafe-pickle"> {
  /** Byte offset in the pickle at which reading stopped. */
  declare readonly offset: number;

  /** Creates an error about an offset. */
  constructor(code: PickleError["code"], offset: number, message: string) {
    super(code, message, { offset });
  }
}
