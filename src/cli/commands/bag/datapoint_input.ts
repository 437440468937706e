import { RecordfsError } from "../../../base/errors.ts";
import { counted } from "../../terminal/amounts.ts";
import type { Datapoint } from "../../../formats/bags/mod.ts";
import type { ProgressUnit } from "../../terminal/progress.ts";

/** A datapoint of an input. */
export interface GivenDatapoint {
  /** Records by key; lists of them. Valid until the next datapoint is asked for. */
  readonly records: Datapoint;
  /** Where it comes from, for errors. */
  readonly where: string;
  /** The part of the input that is done with it. */
  readonly done: number;
}

/** Where the datapoints of `recordfs bag create` come from. */
export interface DatapointInput {
  /** For messages. */
  readonly name: string;
  readonly unit: ProgressUnit;
  /** Its length in `unit`, where that is known. */
  readonly total: number | undefined;
  /** The number of its shards; `undefined` where it is in none. */
  readonly shards: number | undefined;
  /**
   * Reads datapoints, once.
   *
   * @param skip How many to leave out.
   * @param shard Those of one shard; all of them unless given.
   */
  datapoints(skip: number, shard?: number): AsyncIterable<GivenDatapoint>;
  /** Closes what is left open of it. */
  close?(): void;
}

/** There are more datapoints already than the input has. */
export function tooFew(
  name: string,
  has: number,
  skip: number,
): RecordfsError {
  return new RecordfsError(
    "other-input",
    `${name} has ${
      counted(has, "datapoint")
    }, fewer than are written already (${skip}): --resume goes on ` +
      "with the same input",
    { path: name, expected: skip, actual: has },
  );
}
