import { FormatError, RecordfsError } from "../../base/errors.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { decodedBlocks } from "../../io/block_cache/decoded_blocks.ts";
import type { RemoteOptions } from "../../io/remote/remote_options.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { pathIn } from "../../io/storage/stored_location.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { loadDecoder, requireDecodable } from "./compressed_shard.ts";
import type { FoundShards } from "./shard_index.ts";
import type { FileFacts, ShardFacts } from "./shard_index.ts";
import { readTable, wholeSamples } from "./sample_tables.ts";
import { isOfWholeShard } from "./shard_damage.ts";
import { isCompressed, type ShardFile, ShardStore } from "./shard_store.ts";

/**
 * Opens all shards, so that damage of their files is known at once. If there are several, damaged ones keep their place
 * in the numbering, but their samples cannot be read.
 *
 * @throws {FormatError} The first shard's error, if all (or the only) shards are damaged.
 */
export function* openFieldShards(
  found: FoundShards,
  storage: Storage,
  cache?: RemoteOptions["cache"],
): Steps<ShardStore> {
  const { index, path } = found;
  const files: ByteSource[] = [];
  const shards: ShardFile[] = [];
  const errors: unknown[] = [];
  const names = new ShardNames(found, storage);
  yield* names.list();
  const openOne = function* (at: number): Steps<void> {
    try {
      const { file, shard } = yield* openShard(found, names, at, storage);
      files[at] = file;
      shards[at] = shard;
    } catch (error) {
      if (!isOfWholeShard(error)) throw error;
      errors[at] = error;
      const { path } = fileOf(found, names, at);
      const { code, message } = error;
      const damage = { code, message, whole: 0 };
      shards[at] = shardFile(index.shards[at]!, { path, damage });
    }
  };
  try {
    yield* inParallel(index.shards.map((_, at) => openOne(at)));
    const lost = Object.values(errors);
    if (lost.length > 0 && lost.length === shards.length) throw lost[0];
    const blocks = shards.some(isCompressed) ? decodedBlocks() : undefined;
    const handle = {
      path,
      sets: index.sets,
      shards,
      blocks: blocks?.memory,
      owner: blocks?.newOwner() ?? 0,
      cache,
    };
    return new ShardStore(handle, storage, files);
  } catch (error) {
    for (const file of files) file?.close(); // sparse array
    throw error;
  }
}

/**
 * Opens a shard; a truncated one only if some of its samples are complete. Throws a {@linkcode FormatError} if the file
 * is missing, or does not match the index.
 */
export function* openShard(
  found: FoundShards,
  names: ShardNames,
  number: number,
  storage: Storage,
): Steps<{ readonly file: ByteSource; readonly shard: ShardFile }> {
  const { path: indexPath, index } = found;
  const facts = index.shards[number]!;
  const { path, file: { bytes }, compression } = fileOf(
    found,
    names,
    number,
  );
  let file: ByteSource;
  try {
    file = yield* openFile(storage, path);
  } catch (cause) {
    if (!(cause instanceof RecordfsError) || cause.code !== "ENOENT") {
      throw cause;
    }
    throw new FormatError(
      "missing-shard",
      `Cannot open ${path}: it is missing, and ${indexPath} names it. ` +
        "Download it",
      { path, cause },
    );
  }
  try {
    const { name, size, mtime } = file;
    const opened = { path: name, size, mtime, compression };
    const shard = shardFile(facts, opened);
    if (bytes !== undefined && size !== bytes) {
      const error = wrongSize(found, path, size, bytes);
      const isCut = size < bytes && compression === undefined;
      const whole = isCut ? yield* wholeSamples(file, shard) : 0;
      if (whole === 0) throw error;
      const { code, message } = error;
      const damage = { code, message, whole };
      return { file, shard: shardFile(facts, { ...opened, damage }) };
    }
    if (isCompressed(shard)) {
      requireDecodable(shard);
      yield* loadDecoder(shard);
    } else if (file.readAtSync !== undefined) yield* readTable(file, shard);
    return { file, shard };
  } catch (error) {
    file.close();
    throw error;
  }
}

function fileOf(
  { index, directory }: FoundShards,
  names: ShardNames,
  number: number,
): {
  readonly path: string;
  readonly file: FileFacts;
  readonly compression: string | undefined;
} {
  const facts = index.shards[number]!;
  const isRaw = facts.packed === undefined || names.hasRaw(facts);
  const file = isRaw ? facts.raw : facts.packed!;
  const path = pathIn(directory, file.basename);
  return { path, file, compression: isRaw ? undefined : facts.compression };
}

function shardFile(
  { raw, samples, set }: ShardFacts,
  { path, size = 0, mtime = 0, compression, damage }:
    & Partial<ShardFile>
    & Pick<ShardFile, "path">,
): ShardFile {
  const rawBytes = raw.bytes;
  return { path, size, mtime, compression, rawBytes, samples, set, damage };
}

function wrongSize(
  { path: indexPath, isAlone }: FoundShards,
  path: string,
  size: number,
  bytes: number,
): FormatError {
  const who = isAlone ? "its own table" : indexPath;
  const isCut = size < bytes ? "truncated: " : "";
  const hint = isAlone
    ? "Download it again"
    : "It may belong to another index: download both again";
  return new FormatError(
    size < bytes ? "truncated-data" : "bad-structure",
    `Cannot read ${path}: ${isCut}it has ${size} bytes, and ${who} says ` +
      `${bytes}. ${hint}`,
    { path, expected: bytes, actual: size },
  );
}

/** Names of shards that also exist decompressed. These are preferred, as in the original. */
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
    for (const { raw, packed } of index.shards) {
      if (packed === undefined) continue;
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

/** Lists a directory; empty if its storage cannot list, like some servers. */
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
