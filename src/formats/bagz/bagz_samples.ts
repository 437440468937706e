import {
  DecodedBlocks,
  decodedBlocks,
  type DecodedMemory,
} from "../../io/block_cache/decoded_blocks.ts";
import {
  decodedRange,
  type EncodedRange,
} from "../../io/block_cache/decoded_range.ts";
import {
  type DecodeFault,
  decompress,
  decompressNow,
} from "../../io/block_cache/inflate.ts";
import { LONGEST_ZSTD_HEAD, zstdSize } from "../../io/block_cache/zstd_size.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { type BatchRoom, placesIn } from "../../io/read/read_memory.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { changedFile, requireSame } from "../../io/storage/changed_file.ts";
import { openSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { MemberSources } from "../../tree/archive/member_sources.ts";
import { JoinedSources } from "../../tree/joined_sources.ts";
import { readInFiles } from "../../tree/limits/limited_records.ts";
import { type RangeFile, rangeTable } from "../../tree/samples/range_format.ts";
import { RangeSamples } from "../../tree/samples/range_samples.ts";
import type { SamplesHandle } from "../../tree/samples/samples.ts";
import {
  InterleavedTable,
  type ShardTable,
} from "../../tree/samples/shard_table.ts";
import { type Extent, newExtent, type Tree } from "../../tree/tree.ts";
import { type BagzFile, openBagzFile } from "./open_bagz.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Data from which another thread rebuilds samples. */
interface Seed {
  readonly files: readonly RangeFile[];
  readonly isInterleaved: boolean;
  readonly blocks: DecodedMemory;
  readonly owner: number;
}

/** Largest record, in bytes: it is decoded at once. */
const LARGEST = 1 << 30;

/** Records of files, decompressed. */
export class BagzSamples extends RangeSamples<BagzFile> {
  readonly #hasPacked: boolean;
  readonly #blocks: DecodedBlocks;
  /** Number of the container among owners of blocks. */
  readonly #owner: number;

  constructor(
    sources: readonly ByteSource[],
    shards: ShardTable<BagzFile>,
    storage: Storage,
    blocks: DecodedBlocks = decodedBlocks(),
    owner: number = blocks.newOwner(),
  ) {
    super(sources, shards, storage);
    this.#hasPacked = shards.shards.some(({ isCompressed }) => isCompressed);
    this.#blocks = blocks;
    this.#owner = owner;
  }

  locate(index: number, into: Extent): void {
    const { records } = this.shards.of(index);
    const shard = this.shards.shardOf(index);
    records.place(this.shards.numberOf(index), shard, into);
  }

  override placeFile(index: number, _field: number, into: Extent): void {
    this.locate(index, into);
    if (!this.isPacked(index, into.length)) return;
    const head = this.headOf(into, LONGEST_ZSTD_HEAD);
    into.length = this.#sizeOf(index, head, into.length);
    into.source = this.sources.length + index;
    into.offset = 0;
  }

  override treeSources(isOwner: boolean): Tree["sources"] {
    const { sources, storage, shards } = this;
    const opened = super.treeSources(isOwner) as readonly ByteSource[];
    if (!this.#hasPacked) return opened;
    const archive = sources[0]!;
    const decoded = new MemberSources(
      { archive, storage },
      (index) => index < shards.length ? this.#decoded(index) : undefined,
    );
    return new JoinedSources(sources.length, opened, [decoded]);
  }

  share(): SamplesHandle {
    const { shards } = this;
    const data: Seed = {
      files: shards.shards.map(({ records: _, ...file }) => file),
      isInterleaved: shards instanceof InterleavedTable,
      blocks: this.#blocks.memory,
      owner: this.#owner,
    };
    return { module: import.meta.url, data };
  }

  override close(): void {
    for (const { records } of this.shards.shards) records.close();
  }

  protected override readRanges(
    indices: readonly number[],
    memory: BatchRoom | undefined,
  ): Steps<Bytes[]> {
    const isPacked = this.#hasPacked;
    const own = isPacked ? undefined : memory;
    return readInFiles(this.shards, indices, own, isPacked);
  }

  protected override locateNow(index: number, into: Extent): void {
    this.shards.of(index).records.holdTableNow();
    this.locate(index, into);
  }

  protected override unpackNow(index: number, range: Bytes): Bytes {
    if (!this.isPacked(index, range.length)) return range;
    const record = new Uint8Array(this.#sizeIn(index, range));
    decompressNow(range, "zstd", record, this.#faultOf(index));
    return record;
  }

  protected override *unpack(
    indices: readonly number[],
    ranges: Bytes[],
    memory: BatchRoom | undefined,
  ): Steps<Bytes[]> {
    if (!this.#hasPacked) return ranges;
    const sizes = ranges.map((range, i) => {
      return { length: this.#sizeIn(indices[i]!, range) };
    });
    const places = memory && placesIn(memory, sizes);
    const records: Bytes[] = [];
    for (const [i, range] of ranges.entries()) {
      const into = places?.[i] ?? new Uint8Array(sizes[i]!.length);
      yield* this.#decode(indices[i]!, range, into);
      records.push(into);
    }
    return records;
  }

  protected override isPacked(index: number, length: number): boolean {
    return length > 0 && this.shards.of(index).isCompressed; // empty records are not compressed
  }

  #sizeIn(index: number, { buffer, byteOffset, length }: Bytes): number {
    const most = Math.min(LONGEST_ZSTD_HEAD, length);
    return this.#sizeOf(index, new DataView(buffer, byteOffset, most), length);
  }

  /** Returns the size of a record from the head of its stored form, of `packed` bytes. */
  #sizeOf(index: number, head: DataView, packed: number): number {
    if (!this.isPacked(index, packed)) return packed;
    const size = zstdSize(head, packed) ?? NaN;
    if (size >= 0 && size <= LARGEST) return size;
    const why = size < 0
      ? "its frame does not tell its size"
      : `it is no frame of Zstandard of up to ${LARGEST} bytes: it is damaged, or its file has to be named .bag`;
    throw this.fault(index, why, size < 0 ? "unsupported" : "bad-structure");
  }

  *#decode(index: number, bytes: Bytes, into: Uint8Array): Steps<void> {
    if (!this.isPacked(index, bytes.length)) return into.set(bytes);
    yield* decompress(bytes, "zstd", into, this.#faultOf(index));
  }

  #faultOf(index: number): DecodeFault {
    return (why, cause) =>
      this.fault(index, `it ${why}`, "bad-structure", cause);
  }

  /** Returns a record as a source of its own, which is decoded when it is read. */
  #decoded(index: number): ByteSource {
    const [packed, decoded] = [newExtent(), newExtent()];
    this.locate(index, packed);
    this.placeFile(index, 0, decoded);
    const { source, offset, length } = packed;
    const file = this.sources[source]!;
    const name = `${file.name}: record ${this.shards.numberOf(index)}`;
    const range: EncodedRange = {
      ...{ file, offset, packed: length, size: decoded.length, name },
      decode: (bytes, into) => this.#decode(index, bytes, into),
    };
    return decodedRange(range, this.#blocks, this.#owner, index);
  }
}

/** Opens files that another thread has opened. Throws FormatError (`changed`) if one has changed. */
export function* reopenSamples(
  { files, isInterleaved, blocks, owner }: Seed,
  storage: Storage,
): Steps<BagzSamples> {
  const opened: BagzFile[] = [];
  const paths = files.map(({ path }) => path);
  const sources = yield* openSources(storage, paths, function* (source, at) {
    requireSame(source, files[at]!);
    opened[at] = yield* openBagzFile(source, { storage });
  });
  const table = rangeTable(opened, isInterleaved);
  const cache = new DecodedBlocks(blocks);
  const samples = new BagzSamples(sources, table, storage, cache, owner);
  const isSame = opened.every(({ length }, i) => length === files[i]!.length);
  if (isSame) return samples;
  samples.close();
  throw changedFile(table.name);
}
