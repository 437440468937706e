import type { Steps } from "../../../io/concurrency/steps.ts";
import { MappedSources } from "../../../io/read/mapped_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type {
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { prefetchSamples, readSamples, viewSamples } from "./read_samples.ts";
import {
  type RecordFiles,
  type RecordFilesHandle,
  reopenRecordFiles,
  shareRecordFiles,
} from "./record_files.ts";
import type { WholeSamples } from "./whole_samples.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface Seed {
  readonly files: RecordFilesHandle;
  readonly check: boolean;
  readonly areWhole: boolean;
}

/** Samples of FFRecord files as bytes: all in the headers, or only those that are not truncated. */
export class FFRecordSamples implements Samples<Bytes> {
  readonly unit = "sample";
  readonly fields = [];
  readonly stores = "content";
  readonly shards: ShardTable;
  readonly files: RecordFiles;
  readonly check: boolean;
  readonly whole: WholeSamples;
  readonly #areWhole: boolean;
  #mapped: MappedSources | undefined;

  /** @param areWhole Whether truncated samples are excluded from the numbering. */
  constructor(files: RecordFiles, check: boolean, areWhole: boolean) {
    this.files = files;
    this.check = check;
    this.whole = files.index.whole;
    this.#areWhole = areWhole && this.whole.cut.length > 0;
    const { shards } = files.index;
    const { ranges } = this.whole;
    this.shards = this.#areWhole
      ? new ShardTable(
        shards.map(({ path }, i) => ({ path, ...ranges[i]! })),
        ({ first, end }) => end - first,
        files.index.lost,
      )
      : files.index;
  }

  get storage(): Storage {
    return this.files.storage;
  }

  /** Returns the same samples without the truncated ones. */
  ofWhole(): FFRecordSamples {
    return this.whole.cut.length === 0
      ? this
      : new FFRecordSamples(this.files, this.check, true);
  }

  read(
    indices: readonly number[],
    { memory }: ReadSamplesOptions,
  ): Steps<Bytes[]> {
    return readSamples(this.files, this.#all(indices), this.check, memory);
  }

  decode(_index: number, bytes: Bytes): Bytes {
    return bytes;
  }

  prefetch(indices: readonly number[]): number {
    return prefetchSamples(this.files, this.#all(indices));
  }

  /** Returns views of samples in memory maps of their files, in the order of `indices`. */
  views(indices: readonly number[]): Bytes[] {
    this.#mapped ??= new MappedSources(this.files.sources);
    const all = this.#all(indices);
    return viewSamples(this.#mapped, this.files, all, this.check);
  }

  share(): SamplesHandle {
    const data: Seed = {
      files: shareRecordFiles(this.files),
      check: this.check,
      areWhole: this.#areWhole,
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#mapped?.close();
    for (const source of this.files.sources) source.close();
  }

  #all(indices: readonly number[]): readonly number[] {
    return this.#areWhole
      ? indices.map((index) => this.whole.indexOf(index))
      : indices;
  }
}

export function* reopenSamples(
  { files, check, areWhole }: Seed,
  storage: Storage,
): Steps<FFRecordSamples> {
  const opened = yield* reopenRecordFiles(files, storage);
  return new FFRecordSamples(opened, check, areWhole);
}
