import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BagRecords } from "./bag_records.ts";
import { PagedFile } from "../bag/paged_file.ts";
import { longestReferences, References } from "../dataset/references.ts";
import type { SpecKey } from "../dataset/spec.ts";

/** The references of a dataset of generation 1 or 2: the records of its `refs.bag`. */
export class DatapointReferences {
  readonly #records: BagRecords;
  readonly #parsed: References;
  readonly #pages: PagedFile;
  readonly #record: Uint8Array;

  /**
   * @param records The records of `refs.bag`.
   * @param lengths How many records the bag of each key has.
   */
  constructor(
    records: BagRecords,
    keys: readonly SpecKey[],
    lengths: readonly number[],
  ) {
    this.#records = records;
    this.#parsed = new References({ path: records.bag.path, keys, lengths });
    this.#pages = new PagedFile(records.source, 0);
    this.#record = new Uint8Array(longestReferences(keys.length) + 1);
  }

  /**
   * Reads the references of a datapoint without waiting.
   *
   * @returns What is valid until the next call of any of these methods.
   * @throws {FormatError} With code `bad-reference`.
   */
  readSync(datapoint: number): References {
    const records = this.#records;
    records.locateSync(datapoint);
    const { start, end } = records;
    // A record that is longer than references can be is found wrong by its first bytes.
    const length = Math.min(end - start, this.#record.length);
    this.#pages.copy(this.#record, start, length);
    this.#parsed.parse(datapoint, this.#record, length);
    return this.#parsed;
  }

  /** {@linkcode DatapointReferences.readSync}, waiting where it must. */
  *read(datapoint: number): Steps<References> {
    this.#parsed.parse(datapoint, yield* this.#records.read(datapoint));
    return this.#parsed;
  }

  /**
   * Reads the references of consecutive datapoints in one go.
   *
   * @param each Called with the references of one after the other.
   */
  *readRun(
    first: number,
    count: number,
    each: (references: References, i: number) => void,
  ): Steps<void> {
    const records = yield* this.#records.readRun(first, count);
    for (let i = 0; i < count; i++) {
      this.#parsed.parse(first + i, records[i]!);
      each(this.#parsed, i);
    }
  }

  /**
   * Reads the references of datapoints in any order, repeats allowed.
   *
   * @param each Called with the references of one after the other.
   */
  *readBatch(
    datapoints: readonly number[],
    each: (references: References, i: number) => void,
  ): Steps<void> {
    const records = yield* this.#records.readBatch(datapoints);
    for (const [i, datapoint] of datapoints.entries()) {
      this.#parsed.parse(datapoint, records[i]!);
      each(this.#parsed, i);
    }
  }
}
