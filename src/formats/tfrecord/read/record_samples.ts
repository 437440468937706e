import { FormatError } from "../../../base/errors.ts";
import { utf8Text } from "../../../base/utf8.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { MappedSources } from "../../../io/read/mapped_sources.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import type {
  ByteSource,
  SourceList,
} from "../../../io/storage/byte_source.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import { openShards } from "../../../tree/samples/open_shards.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { requireRight } from "../../../io/read/verified_content.ts";
import { crc32cLoaded, crc32cOf } from "../../../io/checksums/crc32c.ts";
import { prefetchContents, readContents } from "../../../tree/read_contents.ts";
import type {
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { type Extent, newExtent } from "../../../tree/tree.ts";
import { decodeExample, type TFExample } from "../proto/example.ts";
import { WireError } from "../proto/wire.ts";
import { type IndexOptions, openIndex } from "./open_index.ts";
import { type RecordFile, RecordTable } from "./record_table.ts";

interface Seed {
  readonly files: readonly RecordFile[];
  readonly check: boolean;
}

/** Records of TFRecord files as samples: their bytes, decoded to examples. */
export class RecordSamples
  implements Samples<Uint8Array<ArrayBuffer>, TFExample> {
  readonly unit = "record";
  readonly shards: RecordTable;
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  /** Undefined for examples, each of which has its own; empty for bytes. */
  readonly fields: readonly [] | undefined;
  readonly stores = "content";
  readonly #check: boolean;
  #mapped: MappedSources | undefined;

  /** @param check Whether records are compared with their checksums. */
  constructor(
    sources: readonly ByteSource[],
    shards: RecordTable,
    storage: Storage,
    check: boolean,
  ) {
    this.sources = sources;
    this.shards = shards;
    this.fields = shards.kind === "records" ? [] : undefined;
    this.storage = storage;
    this.#check = check;
  }

  read(
    indices: readonly number[],
    { memory }: ReadSamplesOptions,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const { sources, shards } = this;
    return readRecords(sources, shards, indices, this.#check, memory);
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

  locate(index: number, into: Extent): void {
    this.shards.locate(index, into);
  }

  prefetch(indices: readonly number[]): number {
    return prefetchContents({
      sources: this.sources,
      length: indices.length,
      locate: (i, into) => this.shards.locate(indices[i]!, into),
    });
  }

  /** Returns records as views into file maps, in order; throws RecordfsError `unsupported` without support for maps. */
  views(indices: readonly number[]): Uint8Array<ArrayBuffer>[] {
    this.#mapped ??= new MappedSources(this.sources);
    const viewOf = this.#mapped.batch(this.#check);
    const extent = newExtent();
    return indices.map((record) => {
      this.shards.locate(record, extent);
      const { source, offset, length } = extent;
      const view = viewOf(source, offset, length);
      if (this.#check) {
        requireRight(
          this.sources[source]!,
          extent,
          crc32cOf(view),
          (...sums) => this.shards.mismatch(record, ...sums),
        );
      }
      return view;
    });
  }

  share(): SamplesHandle {
    const data: Seed = { files: this.shards.shards, check: this.#check };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#mapped?.close();
    for (const source of this.sources) source.close();
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
  const opened = yield* openShards(storage, paths, function* (source) {
    const index = yield* openIndex(source, options);
    const { name: path, size, mtime } = source;
    return { ...index, path, size, mtime };
  });
  const table = new RecordTable(opened.shards, opened.lost);
  const { checkData = true } = options;
  const samples = new RecordSamples(opened.sources, table, storage, checkData);
  const [cut] = table.cutFiles;
  if (cut === undefined || table.length > 0) return samples;
  samples.close();
  throw noneWhole(table.shards[cut]!);
}

function noneWhole({ path, cut }: RecordFile): FormatError {
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
  return new RecordSamples(sources, new RecordTable(files), storage, check);
}

/** Reads records, and compares each with its checksum if `check` is set. */
export function readRecords(
  sources: SourceList,
  table: RecordTable,
  records: readonly number[],
  check: boolean,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  return readContents({
    sources,
    length: records.length,
    locate: (i, into) => table.locate(records[i]!, into),
    mismatch: check
      ? (i, ...sums) => table.mismatch(records[i]!, ...sums)
      : undefined,
  }, memory);
}

/** Calls `work`, and names the record in the error if its bytes are not an example. */
export function orNoExample<T>(
  table: RecordTable,
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
