import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import { RecordfsError } from "../../base/errors.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import { mustWait } from "../../io/storage/must_wait.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { type CallersDecoders, OwnDecoders } from "./own_decoders.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "./samples.ts";
import { reopenSamples as reopenHandle } from "./samples_reader.ts";

const CONTENT = "content";
const CONTENT_FIELD: Field = {
  name: CONTENT,
  type: VALUE_TYPES.bytes,
  isList: false,
};

/** Options of {@linkcode SamplesByField}. */
interface ByFieldOptions {
  /** Closes what the samples were opened from; defaults to closing the samples. */
  readonly close?: (() => void) | undefined;
  /** Decode values in place of the format. */
  readonly decoders?: CallersDecoders | undefined;
}

/** Samples of any format as values by field name, both stored and decoded. Untyped bytes become the field `content`. */
export class SamplesByField implements Samples<SampleValues, SampleValues> {
  readonly fields: readonly Field[] | undefined;
  readonly stores = "fields";
  readonly unit: string;
  readonly shards: Samples["shards"];
  readonly storage: Storage;
  readonly keyOf: Samples["keyOf"];
  readonly fileOf: Samples["fileOf"];
  readonly views: Samples["views"];
  readonly readNow: Samples<SampleValues>["readNow"];
  readonly unstackable: Samples["unstackable"];
  readonly #samples: Samples;
  readonly #hasFields: boolean;
  readonly #close: () => void;
  readonly #given: CallersDecoders | undefined;
  readonly #own: OwnDecoders | undefined;

  constructor(samples: Samples, { close, decoders }: ByFieldOptions = {}) {
    this.#samples = samples;
    this.#close = close ?? (() => samples.close());
    this.#given = decoders;
    this.unit = samples.unit;
    this.shards = samples.shards;
    this.#hasFields = samples.fields?.length !== 0;
    this.fields = this.#hasFields ? samples.fields : [CONTENT_FIELD];
    this.storage = samples.storage;
    this.keyOf = samples.keyOf?.bind(samples);
    this.fileOf = samples.fileOf?.bind(samples);
    this.views = samples.views?.bind(samples);
    const { readNow } = samples;
    if (readNow !== undefined && !this.#hasFields) {
      this.readNow = (index) => ({ [CONTENT]: readNow(index) });
    } else if (samples.stores === "fields") {
      this.readNow = readNow as typeof this.readNow;
    }
    this.unstackable = samples.unstackable?.bind(samples);
    this.#own = decoders && new OwnDecoders(decoders.decoders, this);
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<SampleValues[]> {
    const { stores } = this.#samples;
    if (!this.#hasFields) this.#requireContent(fields);
    const chosen = this.#hasFields ? fields : undefined;
    const read = yield* this.#samples.read(indices, { fields: chosen, memory });
    if (stores === "fields") return read as SampleValues[];
    return read.map((content) => ({ [CONTENT]: content }));
  }

  decode(
    index: number,
    stored: SampleValues,
    fields?: readonly string[],
  ): SampleValues | Promise<SampleValues> {
    return this.#own === undefined
      ? this.#decode(index, stored, fields)
      : this.#decodeWith(this.#own, index, stored, fields);
  }

  prefetch(indices: readonly number[], options: ReadSamplesOptions): number {
    return this.#samples.prefetch(indices, options);
  }

  share(): SamplesHandle {
    const samples = this.#samples.share();
    return this.#given?.share(samples) ??
      { module: import.meta.url, data: samples };
  }

  close(): void {
    this.#close();
  }

  async #decodeWith(
    decoders: OwnDecoders,
    index: number,
    stored: SampleValues,
    fields: readonly string[] | undefined,
  ): Promise<SampleValues> {
    // Fields that are stored as one content are bytes once that is decoded.
    const areApart = !this.#hasFields || this.#samples.stores === "fields";
    const values = areApart
      ? stored
      : await this.#decode(index, stored, fields);
    const { own, others } = decoders.split(values);
    const decoded = areApart
      ? await this.#decode(index, others, fields)
      : others;
    const made = await decoders.decode(index, own);
    return Object.assign(Object.create(null), decoded, made);
  }

  #decode(
    index: number,
    stored: SampleValues,
    fields: readonly string[] | undefined,
  ): SampleValues | Promise<SampleValues> {
    const samples = this.#samples;
    if (!this.#hasFields) return stored;
    const raw = samples.stores === "content" ? stored[CONTENT] : stored;
    return samples.decode(index, raw, fields) as
      | SampleValues
      | Promise<SampleValues>;
  }

  #requireContent(fields: readonly string[] | undefined): void {
    const other = fields?.find((field) => field !== CONTENT);
    if (other === undefined) return;
    const path = this.shards.name;
    throw new RecordfsError(
      "no-column",
      `Cannot read the field '${other}' of ${path}: samples are bytes, in ` +
        `the field '${CONTENT}'`,
      { path, actual: other },
    );
  }
}

export function* reopenSamples(
  handle: SamplesHandle,
  storage: Storage,
): Steps<SamplesByField> {
  const samples = yield* perform({
    sync: () => {
      throw mustWait("the container of another thread");
    },
    async: (signal) => reopenHandle(handle, { storage, signal }),
  });
  return new SamplesByField(samples);
}
