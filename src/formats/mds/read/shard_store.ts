import type { FormatError } from "../../../base/errors.ts";
import { reopenSource } from "../../../io/storage/open_sources.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import {
  DecodedBlocks,
  type DecodedMemory,
} from "../../../io/decoded/decoded_blocks.ts";
import type { ArchiveNotes } from "../../../tree/archive/archive_notes.ts";
import type {
  ByteSource,
  SourceList,
} from "../../../io/storage/byte_source.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import {
  type CompressedShard,
  decompressed,
  loadDecoder,
} from "./compressed_shard.ts";
import type { Column } from "./index_file.ts";
import {
  isOfWholeShard,
  sampleError,
  type ShardDamage,
  shardNotes,
} from "./shard_damage.ts";

/** A shard of a dataset. Plain data. */
export interface ShardFile {
  /** The file that is read. */
  readonly path: string;
  /** Bytes of the file; 0 if it is missing. */
  readonly size: number;
  readonly mtime: number;
  /** How it is compressed, if it is. */
  readonly compression: string | undefined;
  /** Bytes of the shard when it is not. */
  readonly rawBytes: number;
  readonly samples: number;
  /** Which of the sets of columns its samples have. */
  readonly set: number;
  /** Why its samples cannot be read, or the last of them. */
  readonly damage?: ShardDamage | undefined;
}

/** Shards as another thread is told of them: it opens each when it needs it. */
export interface ShardsHandle {
  readonly path: string;
  readonly sets: readonly (readonly Column[])[];
  readonly shards: readonly ShardFile[];
  /** What was decompressed, which all threads share, and the dataset's number there. */
  readonly blocks: DecodedMemory | undefined;
  readonly owner: number;
}

/** The shards of a dataset: samples are numbered over all of them. */
export class ShardStore extends ShardTable<ShardFile> implements SourceList {
  /** The index, or the shard that is read alone. */
  readonly path: string;
  readonly sets: readonly (readonly Column[])[];
  readonly storage: Storage;
  readonly #blocks: DecodedBlocks | undefined;
  readonly #owner: number;
  /** As they lie. */
  readonly #files: (ByteSource | undefined)[];
  /** As their samples lie in them. */
  readonly #contents: (ByteSource | undefined)[] = [];
  readonly #isDamaged: boolean;
  #isClosed = false;

  /**
   * @param storage Where those are opened that are not.
   * @param files Those that are.
   */
  constructor(
    { path, sets, shards, blocks, owner }: ShardsHandle,
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
    this.#isDamaged = shards.some(({ damage }) => damage !== undefined);
  }

  override get name(): string {
    return this.path;
  }

  /** The columns of a sample. */
  columnsOf(sample: number): readonly Column[] {
    return this.sets[this.of(sample).set]!;
  }

  /** Whether nothing that was found at opening keeps a sample from being read. */
  isReadable(sample: number): boolean {
    return this.#damageOf(sample) === undefined;
  }

  /** @throws {FormatError} If a sample is in a damaged part of its shard. */
  requireReadable(sample: number): void {
    const damage = this.#damageOf(sample);
    if (damage !== undefined) throw this.#sampleError(sample, damage);
  }

  /** The error of a sample for damage that reading it has found in its shard; any other error is itself. */
  asSampleError(sample: number, error: unknown): unknown {
    return isOfWholeShard(error)
      ? this.#sampleError(sample, error, error)
      : error;
  }

  /** Reads a sample, and says of which one it is where its shard is damaged. */
  *reading<T>(sample: number, steps: Steps<T>): Steps<T> {
    try {
      return yield* steps;
    } catch (error) {
      throw this.asSampleError(sample, error);
    }
  }

  /** What was found at opening that cannot be read. */
  notes(): ArchiveNotes[] {
    return this.shards.flatMap(({ path, damage }, shard) => {
      if (damage === undefined) return [];
      const [first, end] = [this.firsts[shard]!, this.firsts[shard + 1]!];
      return [shardNotes(path, damage, first, end)];
    });
  }

  /** What a shard's offsets point into; it is opened where that takes no waiting. */
  at(shard: number): ByteSource | undefined {
    if (!(shard < this.shards.length)) return undefined;
    return this.opened(shard) ?? runSync(this.content(shard));
  }

  /** {@linkcode ShardStore.at} of a shard whose file has been opened. */
  opened(shard: number): ByteSource | undefined {
    const there = this.#contents[shard];
    const file = this.#files[shard];
    if (there !== undefined || file === undefined) return there;
    return this.#contents[shard] = this.#contentOf(shard, file);
  }

  /**
   * {@linkcode ShardStore.at}, which may wait.
   *
   * @throws {FormatError} If it is not the same file any more.
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
    return { path, sets, shards, blocks, owner: this.#owner };
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
    // While this one was waited for, another may have been opened, or all closed.
    if (this.#isClosed || this.#files[shard] !== undefined) file.close();
    else this.#files[shard] = file;
    requireOpen(this.path, this.#isClosed);
  }

  #contentOf(shard: number, file: ByteSource): ByteSource {
    const facts = this.shards[shard]!;
    return isCompressed(facts)
      ? decompressed(file, facts, this.#blocks!, this.#owner, shard)
      : file;
  }
}

/** Whether a shard is compressed. */
export function isCompressed(
  shard: ShardFile,
): shard is ShardFile & CompressedShard {
  return shard.compression !== undefined;
}
