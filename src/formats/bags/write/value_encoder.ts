import { messageOf } from "../../../base/message_text.ts";
import { bytesOf } from "../../../base/bytes_of.ts";
import { WriteError } from "../../../base/errors.ts";
import {
  describe,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import type { SpecKey } from "../dataset/spec.ts";
import { codecOf, type Encoder, type Encoders } from "../types/shipped.ts";

export class ValueEncoder {
  readonly #directory: string;
  readonly key: SpecKey;
  readonly #encoder: Encoder | undefined;
  readonly #args: readonly string[];

  /** @param encoders `null` if values are bytes. */
  constructor(directory: string, key: SpecKey, encoders: Encoders | null) {
    this.#directory = directory;
    this.key = key;
    const { codec, args } = codecOf(encoders, key.type);
    this.#encoder = codec;
    this.#args = args;
    if (codec !== undefined && typeof codec !== "function") {
      throw new TypeError(
        `The encoder of '${key.type.name}' must be a function`,
      );
    }
  }

  /**
   * Encodes a value as a record. A type without an encoder accepts anything that a record can be written from.
   *
   * @returns The record, or a promise for {@linkcode ValueEncoder.wait} if the encoder is asynchronous.
   * @throws {WriteError} With code `bad-value`, if the encoder throws or returns no bytes.
   */
  encode(value: unknown, datapoint: number): SampleData | Promise<unknown> {
    if (this.#encoder === undefined) return this.#raw(value, datapoint);
    let encoded: unknown;
    try {
      encoded = this.#encoder(value as never, ...this.#args);
    } catch (cause) {
      throw this.#refused(datapoint, cause);
    }
    return isPromise(encoded)
      ? Promise.resolve(encoded)
      : this.#bytes(encoded, datapoint);
  }

  /** Waits for a record that {@linkcode ValueEncoder.encode} promised. */
  *wait(encoded: Promise<unknown>, datapoint: number): Steps<SampleData> {
    const settled = encoded.then(
      (value) => ({ value, failed: false }),
      (value: unknown) => ({ value, failed: true }),
    );
    const { value, failed } = yield* perform({
      sync: () => {
        throw this.#bad(
          datapoint,
          "its encoder is asynchronous: use write() instead of writeSync()",
        );
      },
      async: (signal) => abortable(settled, signal),
    });
    if (failed) throw this.#refused(datapoint, value);
    return this.#bytes(value, datapoint);
  }

  #bytes(encoded: unknown, datapoint: number): Uint8Array {
    const bytes = bytesOf(encoded);
    if (bytes !== undefined) return bytes;
    throw this.#bad(
      datapoint,
      `its encoder must give bytes (a Uint8Array), not ${describe(encoded)}`,
    );
  }

  #raw(value: unknown, datapoint: number): SampleData {
    try {
      sampleBytes(value as SampleData);
      return value as SampleData;
    } catch (cause) {
      const { word } = this.key.type;
      throw this.#bad(
        datapoint,
        `no encoder is given for the type, so the value must be bytes, not ${
          describe(value)
        }` + (word.endsWith("[]") ? ", and generation 3 has no lists" : ""),
        cause,
      );
    }
  }

  #refused(datapoint: number, cause: unknown): WriteError {
    const reason = messageOf(cause);
    return this.#bad(datapoint, `its encoder fails: ${reason}`, cause);
  }

  #bad(datapoint: number, what: string, cause?: unknown): WriteError {
    const { key, type } = this.key;
    return new WriteError(
      "bad-value",
      `Cannot write '${key}' of type '${type.word}' of datapoint ${datapoint} of ` +
        `${this.#directory}: ${what}`,
      { path: this.#directory, sample: datapoint, cause },
    );
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then ===
    "function";
}
