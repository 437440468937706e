import { DataError } from "../data_error.ts";

/** Says why samples cannot be made a batch. */
export function cannotStack(where: string, why: string): DataError {
  return new DataError(
    "bad-batch",
    `${where} are not alike: ${why}; make them alike in 'process' or a transform, or give the ` +
      `loader a 'collate' of yours (false leaves a list)`,
  );
}
