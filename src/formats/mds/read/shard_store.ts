import { reopenSource } from "../../../io/storage/open_sources.ts";
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import {
  DecodedBlocks,
  decodedBlocks,
  type DecodedMemory,
} from "../../../io/decoded/decoded_blocks.ts";
import { pathIn } from "../../../io/storage/place.ts";
import type {
  ByteSource,
  SourceList,
} from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import {
  type CompressedShard,
  decompressed,
  loadDecoder,
  requireDecodable,
} from "./compressed_shard.ts";
import type { FoundShards } from "./find_shards.ts";
import type { Column, ShardFacts } from "./index_file.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/** A shard that is there. Plain data. */
export interface ShardFile {
  /** The file that is read. */
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
  /** How it is compressed, if it is. */
  readonly compression: string | undefined;
  /** Bytes of the shard when it is not. */
  readonly rawBytes: number;
  readonly samples: number;
  /** Which of the sets of columns its samples have. */
  readonly set: number;
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
  }

  override get name(): string {
    return this.path;
  }

  /** The columns of a sample. */
  columnsOf(sample: number): readonly Column[] {
    return this.sets[this.of(sample).set]!;
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
    for (const [shard, file] of this.#files.entries()) {
      const content = this.#contents[shard];
      if (content !== file) content?.close();
      file?.close();
    }
  }

  *#open(shard: number): Steps<void> {
    const file = yield* reopenSource(this.storage, this.shards[shard]!);
    if (this.#files[shard] === undefined) this.#files[shard] = file;
    else file.close(); // another was opened while this one was waited for
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

/**
 * Opens all shards, so that those that are missing are known at once.
 *
 * @throws {FormatError} If one is missing, or is not what the index says.
 */
export function* openShards(
  found: FoundShards,
  storage: Storage,
): Steps<ShardStore> {
  const { index, path } = found;
  const files: ByteSource[] = [];
  const shards: ShardFile[] = [];
  const names = new ShardNames(found, storage);
  yield* names.list();
  const openOne = function* (at: number): Steps<void> {
    const { file, shard } = yield* openShard(found, names, at, storage);
    files[at] = file;
    shards[at] = shard;
  };
  try {
    yield* inParallel(index.shards.map((_, at) => openOne(at)));
    const blocks = shards.some(isCompressed) ? decodedBlocks() : undefined;
    const handle = {
      path,
      sets: index.sets,
      shards,
      blocks: blocks?.memory,
      owner: blocks?.newOwner() ?? 0,
    };
    return new ShardStore(handle, storage, files);
  } catch (error) {
    for (const file of files) file?.close();
    throw error;
  }
}

/**
 * Opens one shard.
 *
 * @throws {FormatError} If it is missing, or is not what the index says.
 */
export function* openShard(
  { index, directory, path: indexPath }: FoundShards,
  names: ShardNames,
  number: number,
  storage: Storage,
): Steps<{ readonly file: ByteSource; readonly shard: ShardFile }> {
  const facts = index.shards[number]!;
  const isRaw = facts.zip === undefined || names.hasRaw(facts);
  const { basename, bytes } = isRaw ? facts.raw : facts.zip!;
  const path = pathIn(directory, basename);
  let file: ByteSource;
  try {
    file = yield* openFile(storage, path);
  } catch (cause) {
    if (!(cause instanceof RecordfsError) || cause.code !== "ENOENT") {
      throw cause;
    }
    throw new FormatError(
      "missing-shard",
      `${indexPath} names the shard ${basename}, which is not there: fetch it`,
      { path, cause },
    );
  }
  try {
    const { size, mtime } = file;
    const shard: ShardFile = {
      path: file.name,
      size,
      mtime,
      compression: isRaw ? undefined : facts.compression,
      rawBytes: facts.raw.bytes,
      samples: facts.samples,
      set: facts.set,
    };
    if (size !== bytes) {
      const isCut = size < bytes ? "it is truncated: " : "";
      throw new FormatError(
        size < bytes ? "truncated-data" : "bad-structure",
        `${path} has ${size} bytes, and ${indexPath} says ${bytes}: ${isCut}it was cut, or belongs to another index; ` +
          "fetch both again",
        { path, expected: bytes, actual: size },
      );
    }
    if (isCompressed(shard)) {
      requireDecodable(shard);
      yield* loadDecoder(shard);
    }
    return { file, shard };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Which shards are there decompressed, beside the compressed ones: those are taken then, as the original does. */
export class ShardNames {
  readonly #found: FoundShards;
  readonly #storage: Storage;
  readonly #names = new Map<string, ReadonlySet<string>>();

  constructor(found: FoundShards, storage: Storage) {
    this.#found = found;
    this.#storage = storage;
  }

  /** Lists the directories that have compressed shards. */
  *list(): Steps<void> {
    const { index, directory } = this.#found;
    for (const { raw, zip } of index.shards) {
      if (zip === undefined) continue;
      const below = parentOf(raw.basename);
      if (this.#names.has(below)) continue;
      const path = below === "" ? directory : pathIn(directory, below);
      this.#names.set(below, yield* namesIn(path, this.#storage));
    }
  }

  hasRaw({ raw: { basename } }: ShardFacts): boolean {
    const parent = parentOf(basename);
    const name = parent === "" ? basename : basename.slice(parent.length + 1);
    return this.#names.get(parent)?.has(name) ?? false;
  }
}

function parentOf(basename: string): string {
  return basename.slice(0, Math.max(0, basename.lastIndexOf("/")));
}

/** The names in a directory; none where its storage does not tell them, as some servers. */
function* namesIn(path: string, storage: Storage): Steps<ReadonlySet<string>> {
  try {
    return new Set(yield* storage.list(path));
  } catch (error) {
    if (error instanceof RecordfsError && error.code !== "must-wait") {
      return new Set();
    }
    throw error;
  }
}
