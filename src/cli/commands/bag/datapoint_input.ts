import { RecordfsError } from "../../../base/errors.ts";
import { counted } from "../../terminal/amounts.ts";
import type { Datapoint } from "../../../formats/bags/mod.ts";
import type { ProgressUnit } from "../../terminal/progress.ts";

export interface GivenDatapoint {
  /** Records, or lists of records, by key. Valid until the next datapoint is read. */
  readonly records: Datapoint;
  readonly where: string;
  /** Progress in the input after it, in `unit`. */
  readonly done: number;
}

/** Source of the datapoints of `recordfs bag create`. */
export interface DatapointInput {
  readonly name: string;
  readonly unit: ProgressUnit;
  /** Its length in `unit`, if known. */
  readonly total: number | undefined;
  /** Number of its shards; `undefined` if it has none. */
  readonly shards: number | undefined;
  /** Reads the datapoints of a shard, or all, once. Skips the first `skip`. */
  datapoints(skip: number, shard?: number): AsyncIterable<GivenDatapoint>;
  close?(): void;
}

export function tooFew(
  name: string,
  has: number,
  skip: number,
): RecordfsError {
  return new RecordfsError(
    "other-input",
    `Cannot resume with ${name}: it has ${
      counted(has, "datapoint")
    }, fewer than the ${skip} that are written already. Give the ` +
      "same input as before",
    { path: name, expected: skip, actual: has },
  );
}
