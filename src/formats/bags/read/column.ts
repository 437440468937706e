import { FormatError } from "../../../errors.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import type { BagRecords } from "./bag_records.ts";
import type { SpecKey, ValueType } from "../dataset/spec.ts";
import type { Decoder, Decoders } from "../types/codec_types.ts";

/** Values of a key: their records, and what is made of them. */
export class Column {
  readonly key: string;
  readonly type: ValueType;
  readonly records: BagRecords;
  readonly #decoder: Decoder | undefined;
  readonly #args: readonly string[];

  /** @param decoders `null` for values that are bytes. */
  constructor(
    { key, type }: SpecKey,
    records: BagRecords,
    decoders: Decoders | null,
  ) {
    this.key = key;
    this.type = type;
    this.records = records;
    const { word, name } = type;
    const isOwnWord = decoders !== null && Object.hasOwn(decoders, word);
    const found = isOwnWord ? word : name;
    this.#args = isOwnWord ? [] : type.args;
    this.#decoder = decoders !== null && Object.hasOwn(decoders, found)
      ? decoders[found]
      : undefined;
  }

  /** Whether there is a decoder: otherwise values are bytes. */
  get decodes(): boolean {
    return this.#decoder !== undefined;
  }

  /**
   * Makes the value of a record.
   *
   * @throws {FormatError} With code `bad-value`.
   * @throws {TypeError} If the decoder needs to be waited for.
   */
  decodeSync(bytes: Uint8Array<ArrayBuffer>, datapoint: number): unknown {
    if (this.#decoder === undefined) return bytes;
    const value = this.#decode(bytes, datapoint);
    if (value instanceof Promise) this.#refuse(value);
    return value;
  }

  /** {@linkcode Column.decodeSync}, waiting for decoders that need it. */
  *decode(bytes: Uint8Array<ArrayBuffer>, datapoint: number): Steps<unknown> {
    if (this.#decoder === undefined) return bytes;
    const value = this.#decode(bytes, datapoint);
    if (!(value instanceof Promise)) return value;
    return yield* perform<unknown>({
      sync: () => this.#refuse(value),
      async: () =>
        value.catch((cause) => {
          throw this.#bad(datapoint, cause);
        }),
    });
  }

  /**
   * Makes the value of a record, or the promise of it.
   *
   * @throws {FormatError} With code `bad-value`; a promise rejects with it.
   */
  begin(bytes: Uint8Array<ArrayBuffer>, datapoint: number): unknown {
    if (this.#decoder === undefined) return bytes;
    const value = this.#decode(bytes, datapoint);
    if (!(value instanceof Promise)) return value;
    return value.catch((cause) => {
      throw this.#bad(datapoint, cause);
    });
  }

  /** {@linkcode Column.decode} of the values of a list. */
  *decodeAll(
    records: readonly Uint8Array<ArrayBuffer>[],
    datapoint: number,
  ): Steps<unknown[]> {
    const values: unknown[] = [];
    for (const bytes of records) {
      values.push(yield* this.decode(bytes, datapoint));
    }
    return values;
  }

  #decode(bytes: Uint8Array<ArrayBuffer>, datapoint: number): unknown {
    const decoder = this.#decoder!;
    const args = this.#args;
    try {
      return args.length === 0 ? decoder(bytes) : decoder(bytes, ...args);
    } catch (cause) {
      throw this.#bad(datapoint, cause);
    }
  }

  #refuse(value: Promise<unknown>): never {
    value.catch(() => {}); // nobody will look at it
    throw new TypeError(
      `The decoder of '${this.key}' (${this.type.word}) needs to be waited for: use the asynchronous method`,
    );
  }

  #bad(datapoint: number, cause: unknown): FormatError {
    const { path } = this.records.bag;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new FormatError(
      "bad-value",
      `${path}: cannot decode '${this.key}' of datapoint ${datapoint} as ${this.type.word}: ${reason}`,
      { path, sample: datapoint, cause },
    );
  }
}
