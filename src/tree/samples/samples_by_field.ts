import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import { RecordfsError } from "../../base/errors.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import { mustWait } from "../../io/storage/must_wait.ts";
import type { Storage } from "../../io/storage/storage.ts";
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
  readonly #samples: Samples;
  readonly #hasFields: boolean;
  readonly #close: () => void;

  /** @param close Closes what the samples were opened from; defaults to closing the samples. */
  constructor(samples: Samples, close?: () => void) {
    this.#samples = samples;
    this.#close = close ?? (() => samples.close());
    this.unit = samples.unit;
    this.shards = samples.shards;
    this.#hasFields = samples.fields?.length !== 0;
    this.fields = this.#hasFields ? samples.fields : [CONTENT_FIELD];
    this.storage = samples.storage;
    this.keyOf = samples.keyOf?.bind(samples);
    this.fileOf = samples.fileOf?.bind(samples);
    this.views = samples.views?.bind(samples);
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
    const samples = this.#samples;
    if (!this.#hasFields) return stored;
    const raw = samples.stores === "content" ? stored[CONTENT] : stored;
    return samples.decode(index, raw, fields) as
      | SampleValues
      | Promise<SampleValues>;
  }

  expect(indices: readonly number[], options: ReadSamplesOptions): number {
    return this.#samples.expect(indices, options);
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: this.#samples.share() };
  }

  close(): void {
    this.#close();
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
