import { RecordfsError } from "../../errors.ts";

/** A NumPy array is damaged, or of a type that has no counterpart here. */
export class NumpyError
  extends RecordfsError<"bad-npy" | "unsupported-dtype"> {}
