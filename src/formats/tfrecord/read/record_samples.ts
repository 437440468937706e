import { FormatError } from "../../../base/errors.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { crc32cLoaded } from "../../../io/checksums/crc32c.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { ContentSamples } from "../../../tree/records/content_samples.ts";
import { openKnownShards } from "../../../tree/samples/open_shards.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import { decodeExample, type TFExample } from "../proto/example.ts";
import { WireError } from "../proto/wire.ts";
import { type IndexOptions, openIndex } from "./open_index.ts";
import { type TFRecordFile, TFRecordTable } from "./record_table.ts";

interface Seed {
  readonly files: readonly TFRecordFile[];
  readonly check: boolean;
}

/** Records of TFRecord files as samples: their bytes, decoded to examples. */
export class RecordSamples extends ContentSamples<TFRecordTable, TFExample> {
  readonly unit = "record";
  /** Undefined for examples, each of which has its own; empty for bytes. */
  readonly fields: readonly [] | undefined;

  /** @param check Whether records are compared with their checksums. */
  constructor(
    sources: readonly ByteSource[],
    shards: TFRecordTable,
    storage: Storage,
    check: boolean,
  ) {
    super(sources, shards, storage, check);
    this.fields = shards.kind === "records" ? [] : undefined;
  }

  decode(
    index: number,
    bytes: Uint8Array<ArrayBuffer>,
    fields?: readonly string[],
  ): TFExample {
    return orNoExample(this.shards, index, () => decodeExample(bytes, fields));
  }

  /** Returns the value of a feature that has only one. */
  valueIn(example: TFExample, field: string): unknown {
    const values = example[field];
    if (values?.length !== 1) return undefined;
    const [value] = values;
    if (value instanceof Uint8Array) return utf8Text(value);
    return typeof value === "object" ? undefined : value; // an object is the only step of a list
  }

  share(): SamplesHandle {
    const data: Seed = { files: this.shards.shards, check: this.checkData };
    return { module: import.meta.url, data };
  }
}

/**
 * Opens files in order. Skips those whose first length is wrong, unless it is the only file. Throws FormatError if a
 * file is compressed, the first length of the only one is wrong, or no record is whole.
 */
export function* openRecordSamples(
  paths: readonly string[],
  storage: Storage,
  options: IndexOptions,
): Steps<RecordSamples> {
  const opened = yield* openKnownShards(
    storage,
    paths,
    (source) => openIndex(source, options),
  );
  const table = new TFRecordTable(opened.shards, opened.lost);
  const { checkData = true } = options;
  const samples = new RecordSamples(opened.sources, table, storage, checkData);
  const [cut] = table.cutFiles;
  if (cut === undefined || table.length > 0) return samples;
  samples.close();
  throw noneWhole(table.shards[cut]!);
}

function noneWhole({ path, cut }: TFRecordFile): FormatError {
  const { code, why, ...facts } = cut!;
  const message = `Cannot read ${path}: it has no whole record: ${why}`;
  return new FormatError(code, message, { ...facts, path, sample: 0 });
}

/** Opens files that another thread has opened, using its tables. */
export function* reopenSamples(
  { files, check }: Seed,
  storage: Storage,
): Steps<RecordSamples> {
  if (check) yield* crc32cLoaded();
  const sources = yield* reopenSources(storage, files);
  return new RecordSamples(sources, new TFRecordTable(files), storage, check);
}

/** Calls `work`, and names the record in the error if its bytes are not an example. */
export function orNoExample<T>(
  table: TFRecordTable,
  record: number,
  work: () => T,
): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    const { path } = table.of(record);
    const number = table.numberOf(record);
    throw new FormatError(
      "bad-value",
      `Cannot read record ${number} of ${path} as an Example of ` +
        `TensorFlow: ${cause.message}. Read its bytes`,
      { path, sample: record, cause },
    );
  }
}
