import { DataError } from "../../data_error.ts";

const FOR_SAMPLES =
  "make them alike in 'process' or a transform, or give the loader a 'collate' of yours (false leaves a list)";

/** Says why samples cannot be made a batch, and what to do about it. */
export function cannotStack(
  where: string,
  why: string,
  advice: string = FOR_SAMPLES,
): DataError {
  return new DataError(
    "bad-batch",
    `${where} are not alike: ${why}; ${advice}`,
  );
}
