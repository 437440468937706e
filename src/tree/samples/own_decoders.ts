import { FormatError } from "../../base/errors.ts";
import { messageOf } from "../../base/message_text.ts";
import type {
  SampleDecoder,
  SampleDecoders,
} from "../../codecs/file_values.ts";
import { extensionIn } from "../../codecs/values/value_type.ts";
import type { Samples, SamplesHandle, SampleValues } from "./samples.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Decoders of the caller. */
export interface CallersDecoders {
  readonly decoders: SampleDecoders;
  /**
   * Describes samples with these decoders for another thread.
   *
   * @throws {DataError} With code `not-portable` if another thread cannot import the decoders.
   */
  share(samples: SamplesHandle): SamplesHandle;
}

/**
 * Decoders of the caller, applied to the values of samples that are bytes or lists of bytes: by the name of the field's
 * type, or by the last extension of the field's name if samples have fields of their own.
 */
export class OwnDecoders {
  readonly #decoders: SampleDecoders;
  readonly #samples: Samples;
  /** Names of the types of the fields; `undefined` if each sample has its own fields. */
  readonly #types: ReadonlyMap<string, string> | undefined;

  /** @param samples With the fields that decoded samples have. */
  constructor(decoders: SampleDecoders, samples: Samples) {
    this.#decoders = decoders;
    this.#samples = samples;
    this.#types = samples.fields &&
      new Map(samples.fields.map(({ name, type }) => [name, type.name]));
  }

  /** Returns the values of a sample that these decoders decode, and all others. */
  split(values: SampleValues): { own: SampleValues; others: SampleValues } {
    // Names are arbitrary, including those of Object's members.
    const own: Record<string, unknown> = Object.create(null);
    const others: Record<string, unknown> = Object.create(null);
    for (const [name, value] of Object.entries(values)) {
      const isOwn = this.#decoderOf(name) !== undefined && areBytes(value);
      (isOwn ? own : others)[name] = value;
    }
    return { own, others };
  }

  /**
   * Decodes the values that {@linkcode OwnDecoders.split} returned as own.
   *
   * @throws {FormatError} With code `bad-value` if a decoder fails.
   */
  async decode(index: number, own: SampleValues): Promise<SampleValues> {
    const decoded: Record<string, unknown> = Object.create(null);
    for (const [name, value] of Object.entries(own)) {
      const decode = this.#decoderOf(name)!;
      try {
        decoded[name] = await (Array.isArray(value)
          ? Promise.all(value.map(async (bytes) =>
            await decode(bytes)
          ))
          : decode(value as Bytes));
      } catch (cause) {
        throw this.#badValue(index, name, cause);
      }
    }
    return decoded;
  }

  #decoderOf(field: string): SampleDecoder | undefined {
    const word = this.#types === undefined
      ? extensionIn(field)
      : this.#types.get(field);
    if (word === undefined || !Object.hasOwn(this.#decoders, word)) {
      return undefined;
    }
    const decoder = this.#decoders[word];
    return decoder === null ? unchanged : decoder;
  }

  #badValue(index: number, field: string, cause: unknown): FormatError {
    const { keyOf, shards, unit } = this.#samples;
    const { path } = shards.of(index);
    const sample = keyOf === undefined ? index : `'${keyOf(index)}'`;
    return new FormatError(
      "bad-value",
      `Cannot decode the field '${field}' of ${unit} ${sample} in ${path}: ${
        messageOf(cause)
      }. Correct the decoder, or the sample if it is damaged`,
      { path, sample: index, cause },
    );
  }
}

function unchanged(bytes: Bytes): Bytes {
  return bytes;
}

function areBytes(value: unknown): value is Bytes | Bytes[] {
  return value instanceof Uint8Array ||
    Array.isArray(value) && value.every((item) => item instanceof Uint8Array);
}
