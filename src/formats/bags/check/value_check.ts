import { FormatError } from "../../../errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { Bag } from "../bag/bag.ts";
import type { Generation } from "../dataset/generation.ts";
import { largestValue } from "./largest_value.ts";
import type { ValueType } from "../dataset/spec.ts";
import { decodersOf } from "../types/mod.ts";

/** Decodes values of one type to see whether that can be done; what that gives is thrown away. */
export class ValueCheck {
  /** How many values were too large to be decoded. */
  skipped = 0;
  readonly #bag: Bag;
  readonly #type: ValueType;
  readonly #decode;
  readonly #signal: AbortSignal | undefined;

  /** @param generation That of the dataset. */
  constructor(
    bag: Bag,
    generation: Generation,
    type: ValueType,
    signal: AbortSignal | undefined,
  ) {
    this.#bag = bag;
    this.#type = type;
    this.#decode = decodersOf(generation)[type.name];
    this.#signal = signal;
  }

  /** Whether there is anything to check: types of the user's own are not known here. */
  get isKnown(): boolean {
    return this.#decode !== undefined;
  }

  /**
   * Decodes a record that lies inside the bag, unless it is too large for that.
   *
   * @throws {FormatError} With code `bad-value` if that fails.
   */
  async record(record: number, start: number, end: number): Promise<void> {
    if (end - start > largestValue(this.#type)) {
      this.skipped++;
      return;
    }
    const steps = readPart(this.#bag.source, start, end - start);
    const bytes = await runAsync(steps, this.#signal);
    try {
      await this.#decode!(bytes, ...this.#type.args);
    } catch (cause) {
      const { path } = this.#bag;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new FormatError("bad-value", `${path}, record ${record}: ${why}`, {
        path,
        sample: record,
        cause,
      });
    }
  }
}
