import { checksumOf } from "../../io/checksums/checksum.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { MappedSources } from "../../io/read/mapped_sources.ts";
import { requireRight } from "../../io/read/verified_content.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../samples/samples.ts";
import { type Extent, newExtent } from "../tree.ts";
import type { RecordFile, RecordTable } from "./record_table.ts";

/**
 * Records as samples that are stored as one content each. Subclasses decode them.
 *
 * @typeParam T Table of the records.
 * @typeParam D Decoded form.
 */
export abstract class ContentSamples<T extends RecordTable<RecordFile>, D>
  implements Samples<Uint8Array<ArrayBuffer>, D> {
  abstract readonly unit: string;
  abstract readonly fields: readonly Field[] | undefined;
  readonly stores = "content";
  readonly shards: T;
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  /** Whether records are compared with their checksums. */
  protected readonly checkData: boolean;
  #mapped: MappedSources | undefined;

  constructor(
    sources: readonly ByteSource[],
    shards: T,
    storage: Storage,
    checkData: boolean,
  ) {
    this.sources = sources;
    this.shards = shards;
    this.storage = storage;
    this.checkData = checkData;
  }

  read(
    indices: readonly number[],
    { memory }: ReadSamplesOptions,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const { shards, sources } = this;
    return readContents({
      sources,
      length: indices.length,
      locate: (i, into) => shards.locate(indices[i]!, into),
      mismatch: this.checkData
        ? (i, ...sums) => shards.mismatch!(indices[i]!, ...sums)
        : undefined,
    }, memory);
  }

  abstract decode(
    index: number,
    bytes: Uint8Array<ArrayBuffer>,
    fields?: readonly string[],
  ): D;

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
    const viewOf = this.#mapped.batch(this.checkData);
    const extent = newExtent();
    return indices.map((record) => {
      this.shards.locate(record, extent);
      const { source, offset, length, checksumKind } = extent;
      const view = viewOf(source, offset, length);
      if (this.checkData && checksumKind !== undefined) {
        requireRight(
          this.sources[source]!,
          extent,
          checksumOf(checksumKind)(view),
          (...sums) => this.shards.mismatch!(record, ...sums),
        );
      }
      return view;
    });
  }

  abstract share(): SamplesHandle;

  close(): void {
    this.#mapped?.close();
    for (const source of this.sources) source.close();
  }
}
