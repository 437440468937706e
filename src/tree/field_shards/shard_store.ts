import type { FormatError } from "../../base/errors.ts";
import { reopenSource } from "../../io/storage/open_sources.ts";
import { runSync, type Steps } from "../../io/concurrency/steps.ts";
import {
  DecodedBlocks,
  type DecodedMemory,
} from "../../io/block_cache/decoded_blocks.ts";
import type { ArchiveNotes } from "../archive/archive_notes.ts";
import type { ByteSource, SourceList } from "../../io/storage/byte_source.ts";
import type { RemoteOptions } from "../../io/remote/remote_options.ts";
import { requireOpen } from "../../io/storage/closed.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { ShardTable } from "../samples/shard_table.ts";
import {
  type CompressedShard,
  decompressed,
  loadDecoder,
} from "./compressed_shard.ts";
import type { Column } from "./shard_index.ts";
import {
  isOfWholeShard,
  sampleError,
  type ShardDamage,
  shardNotes,
} from "./shard_damage.ts";

export interface ShardFile {
  readonly path: string;
  /** Size of the file in bytes; 0 if it is missing. */
  readonly size: number;
  readonly mtime: number;
  readonly compression: string | undefined;
  /** Decompressed size in bytes. */
  readonly rawBytes: number;
  readonly samples: number;
  /** Index of its columns in the sets. */
  readonly set: number;
  /** Why its samples, or the last of them, cannot be read. */
  readonly damage?: ShardDamage | undefined;
}

/** Shards as passed to another thread, which opens each on demand. */
export interface ShardsHandle {
  readonly path: string;
  readonly sets: readonly (readonly Column[])[];
  readonly shards: readonly ShardFile[];
  /** Block cache shared by all threads, and the dataset's number in it. */
  readonly blocks: DecodedMemory | undefined;
  readonly owner: number;
  /** Where what is known of large compressed shards is cached. */
  readonly cache?: RemoteOptions["cache"];
}

/** Shards of a dataset; samples are numbered across all of them. */
export class ShardStore extends ShardTable<ShardFile> implements SourceList {
  readonly path: string;
  readonly sets: readonly (readonly Column[])[];
  readonly storage: Storage;
  readonly #blocks: DecodedBlocks | undefined;
  readonly #owner: number;
  readonly #cache: RemoteOptions["cache"];
  /** Stored files. */
  readonly #files: (ByteSource | undefined)[];
  /** Decompressed contents. */
  readonly #contents: (ByteSource | undefined)[] = [];
  readonly #isDamaged: boolean;
  #isClosed = false;

  /** @param files Files that are already open; others are opened from `storage`. */
  constructor(
    { path, sets, shards, blocks, owner, cache }: ShardsHandle,
    storage: Storage,
    files: readonly ByteSource[] = [],
  ) {
    super(shards, ({ samples }) => samples);
    this.path = path;
    this.sets = sets;
    this.storage = storage;
    this.#files = [...files];
    this.#blocks = blocks && new DecodedBlocks(blocks);
    this.#owner = owner;
    this.#cache = cache;
    this.#isDamaged = shards.some(({ damage }) => damage !== undefined);
  }

  override get name(): string {
    return this.path;
  }

  columnsOf(sample: number): readonly Column[] {
    return this.sets[this.of(sample).set]!;
  }

  /** Whether a sample is readable, as far as known from opening. */
  isReadable(sample: number): boolean {
    return this.#damageOf(sample) === undefined;
  }

  /** @throws {FormatError} If a sample is in a damaged part of its shard. */
  requireReadable(sample: number): void {
    const damage = this.#damageOf(sample);
    if (damage !== undefined) throw this.#sampleError(sample, damage);
  }

  /** Turns damage found in a sample's shard into an error of the sample; returns other errors unchanged. */
  asSampleError(sample: number, error: unknown): unknown {
    return isOfWholeShard(error)
      ? this.#sampleError(sample, error, error)
      : error;
  }

  /** Runs steps that read a sample; errors of its shard then name the sample. */
  *reading<T>(sample: number, steps: Steps<T>): Steps<T> {
    try {
      return yield* steps;
    } catch (error) {
      throw this.asSampleError(sample, error);
    }
  }

  notes(): ArchiveNotes[] {
    return this.shards.flatMap(({ path, damage }, shard) => {
      if (damage === undefined) return [];
      const [first, end] = [this.firsts[shard]!, this.firsts[shard + 1]!];
      return [shardNotes(path, damage, first, end)];
    });
  }

  /** Returns the source that a shard's offsets refer to; opens it if that needs no waiting. */
  at(shard: number): ByteSource | undefined {
    if (!(shard < this.shards.length)) return undefined;
    return this.opened(shard) ?? runSync(this.content(shard));
  }

  /** Like {@linkcode ShardStore.at}, but only if the shard's file is open. */
  opened(shard: number): ByteSource | undefined {
    const there = this.#contents[shard];
    const file = this.#files[shard];
    if (there !== undefined || file === undefined) return there;
    return this.#contents[shard] = this.#contentOf(shard, file);
  }

  /**
   * Like {@linkcode ShardStore.at}, but may wait.
   *
   * @throws {FormatError} If the file has changed.
   * @throws {RecordfsError} With code `closed`.
   */
  *content(shard: number): Steps<ByteSource> {
    const facts = this.shards[shard]!;
    if (isCompressed(facts)) yield* loadDecoder(facts);
    if (this.#files[shard] === undefined) yield* this.#open(shard);
    return this.opened(shard)!;
  }

  share(): ShardsHandle {
    const { path, sets, shards } = this;
    const blocks = this.#blocks?.memory;
    const [owner, cache] = [this.#owner, this.#cache];
    return { path, sets, shards, blocks, owner, cache };
  }

  close(): void {
    this.#isClosed = true;
    for (const [shard, file] of this.#files.entries()) {
      const content = this.#contents[shard];
      if (content !== file) content?.close();
      file?.close();
    }
    this.#files.fill(undefined);
    this.#contents.fill(undefined);
  }

  #damageOf(sample: number): ShardDamage | undefined {
    if (!this.#isDamaged) return undefined;
    const shard = this.shardOf(sample);
    const { damage } = this.shards[shard]!;
    const isWhole = damage === undefined ||
      sample - this.firsts[shard]! < damage.whole;
    return isWhole ? undefined : damage;
  }

  #sampleError(
    sample: number,
    damage: Pick<ShardDamage, "code" | "message">,
    cause?: unknown,
  ): FormatError {
    const { path } = this.of(sample);
    return sampleError(path, damage, sample, this.numberOf(sample), cause);
  }

  *#open(shard: number): Steps<void> {
    requireOpen(this.path, this.#isClosed);
    const file = yield* reopenSource(this.storage, this.shards[shard]!);
    // Meanwhile another call may have opened this file, or closed all.
    if (this.#isClosed || this.#files[shard] !== undefined) file.close();
    else this.#files[shard] = file;
    requireOpen(this.path, this.#isClosed);
  }

  #contentOf(shard: number, file: ByteSource): ByteSource {
    const facts = this.shards[shard]!;
    return isCompressed(facts)
      ? decompressed(
        ...[file, facts, this.#blocks!, this.#owner, shard] as const,
        this.#cache,
      )
      : file;
  }
}

export function isCompressed(
  shard: ShardFile,
): shard is ShardFile & CompressedShard {
  return shard.compression !== undefined;
}
