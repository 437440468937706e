import { FormatError, RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { DecodedBlocks } from "../../io/decoded/decoded_blocks.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import { type FileHash, newFileHash } from "../../io/sums/file_hash.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { requireSoundList } from "./encodings/list_value.ts";
import { badValue, ValueFault } from "./encodings/value_fault.ts";
import { bytesKept } from "./read/compressed_shard.ts";
import {
  findShards,
  type FoundShards,
  readConfig,
} from "./read/find_shards.ts";
import { type FileFacts, parseConfig } from "./read/index_file.ts";
import {
  badSizes,
  headSize,
  SampleTables,
  startIn,
  valueStarts,
} from "./read/sample_tables.ts";
import {
  isCompressed,
  openShard,
  type ShardFile,
  ShardNames,
  ShardStore,
} from "./read/shard_store.ts";

/** Bytes that are read and hashed at a time. */
const PIECE = 1 << 20;
/** Bytes that are read where the sizes before a sample's values are wanted: those of the next are there as well. */
const WINDOW = 1 << 16;

/**
 * Compares the files of all shards with the sizes and hashes that the index has, what is compressed in them as well, and
 * each sample's values with its size.
 */
export async function checkShards(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const storage = options.storage ?? LOCAL_DISK;
  const { signal } = options;
  const found = await runAsync(findShards(location, storage), signal);
  const check = new Check(found, storage, options);
  return await check.run();
}

class Check {
  readonly #found: FoundShards;
  readonly #storage: Storage;
  readonly #options: CheckOptions;
  /** Hashes that nobody here knows, each of which is told once. */
  readonly #unknown = new Set<string>();
  #done = 0;
  #damaged = 0;

  constructor(found: FoundShards, storage: Storage, options: CheckOptions) {
    this.#found = found;
    this.#storage = storage;
    this.#options = options;
  }

  async run(): Promise<CheckReport> {
    const { index } = this.#found;
    const { signal } = this.#options;
    const names = new ShardNames(this.#found, this.#storage);
    await runAsync(names.list(), signal);
    let [samples, bytes] = [0, 0];
    for (const number of index.shards.keys()) {
      signal?.throwIfAborted();
      await this.#reporting(async () => {
        const opening = openShard(this.#found, names, number, this.#storage);
        const { file, shard } = await runAsync(opening, signal);
        bytes += file.size;
        samples += shard.samples;
        try {
          await this.#shard(number, file, shard);
        } finally {
          file.close();
        }
      });
    }
    const hasHashes = index.shards.some(({ raw, zip }) =>
      [raw, zip].some((file) => Object.keys(file?.hashes ?? {}).length > 0)
    );
    const compares = hasHashes ? "contents" : "structure";
    return { samples, bytes, damaged: this.#damaged, compares };
  }

  async #shard(
    number: number,
    file: ByteSource,
    shard: ShardFile,
  ): Promise<void> {
    const { raw, zip } = this.#found.index.shards[number]!;
    await this.#reporting(() =>
      this.#hash(file, isCompressed(shard) ? zip! : raw, shard.path)
    );
    // Nothing of it is kept: each is looked at once.
    const blocks = isCompressed(shard)
      ? DecodedBlocks.ofSize(bytesKept(shard))
      : undefined;
    const store = new ShardStore(
      {
        path: this.#found.path,
        sets: this.#found.index.sets,
        shards: [shard],
        blocks: blocks?.memory,
        owner: blocks?.newOwner() ?? 0,
      },
      this.#storage,
      [file],
    );
    const { signal } = this.#options;
    const content = await runAsync(store.content(0), signal);
    if (isCompressed(shard)) {
      const isSound = await this.#reporting(() =>
        this.#hash(content, raw, shard.path, true)
      );
      if (!isSound) return; // there is nothing to look at
    }
    await this.#reporting(() => this.#structure(store, content, number));
  }

  async #hash(
    source: ByteSource,
    { hashes }: FileFacts,
    path: string,
    isDecompressed = false,
  ): Promise<void> {
    const { signal } = this.#options;
    const taken: [string, FileHash][] = [];
    for (const name of Object.keys(hashes)) {
      const hash = await newFileHash(name);
      if (hash === undefined) this.#warn(name);
      else taken.push([name, hash]);
    }
    for (let at = 0; at < source.size; at += PIECE) {
      const length = Math.min(PIECE, source.size - at);
      const piece = await runAsync(readPart(source, at, length), signal);
      for (const [, hash] of taken) hash.update(piece);
      if (!isDecompressed) this.#progress(length);
    }
    for (const [name, hash] of taken) {
      const [expected, actual] = [hashes[name]!.toLowerCase(), hash.digest()];
      if (expected === actual) continue;
      const what = isDecompressed ? "what is compressed in it" : "it";
      this.#report(
        new FormatError(
          "sample-checksum",
          `${path}: ${name} of ${what} is ${actual}, and the index says ${expected}: it is damaged; fetch it again`,
          { path, expected, actual },
        ),
      );
    }
  }

  async #structure(
    store: ShardStore,
    content: ByteSource,
    number: number,
  ): Promise<void> {
    const { signal } = this.#options;
    const [shard] = store.shards;
    const { path, rawBytes, samples } = shard!;
    const tables = new SampleTables(store);
    const table = await runAsync(tables.table(0), signal);
    const columns = store.sets[shard!.set]!;
    const { bytes } = await runAsync(readConfig(content), signal);
    const own = bytes.length === 0 ? columns : parseConfig(bytes, path);
    const words = (all: typeof columns) =>
      JSON.stringify(all.map(({ name, encoding }) => [name, encoding.word]));
    if (words(own) !== words(columns)) {
      this.#report(
        new FormatError(
          "bad-structure",
          `${path} has other columns by its own configuration than by the index's shard ${number}: one of them was ` +
            "changed; fetch both again",
          { path, expected: words(columns), actual: words(own) },
        ),
      );
    }
    if (startIn(table, samples) !== rawBytes) {
      const end = startIn(table, samples);
      this.#report(
        new FormatError(
          "bad-structure",
          `${path} has ${
            rawBytes - end
          } bytes behind its last sample: it is damaged; fetch it again`,
          { path, offset: end },
        ),
      );
    }
    const size = headSize(columns);
    const heads = new Heads(content, signal);
    const lists = columns.flatMap(({ name, encoding }, column) =>
      encoding.list === undefined ? [] : [{ name, column, list: encoding.list }]
    );
    for (let sample = 0; sample < samples; sample++) {
      const start = startIn(table, sample);
      const length = startIn(table, sample + 1) - start;
      const head = size > length ? undefined : await heads.at(start, size);
      const starts = head && valueStarts(columns, head, length);
      if (starts === undefined) {
        this.#report(badSizes(path, sample, sample));
        continue;
      }
      for (const { name, column, list } of lists) {
        const place = {
          source: content,
          offset: start + starts[column]!,
          length: starts[column + 1]! - starts[column]!,
        };
        try {
          await runAsync(requireSoundList(list, place), signal);
        } catch (cause) {
          if (!(cause instanceof ValueFault)) throw cause;
          this.#report(badValue({ path, sample, column: name }, cause));
        }
      }
    }
  }

  #warn(name: string): void {
    if (this.#unknown.has(name)) return;
    this.#unknown.add(name);
    const { onWarning = warnOnConsole } = this.#options;
    onWarning(
      `${this.#found.path} has hashes of the kind '${name}', which is not known here: they are not compared`,
    );
  }

  #progress(bytes: number): void {
    const { index } = this.#found;
    this.#done += bytes;
    const total = index.shards.reduce(
      (sum, { raw, zip }) => sum + (zip ?? raw).bytes,
      0,
    );
    this.#options.onProgress?.(this.#done, Math.max(this.#done, total));
  }

  /** @returns Whether it ended. */
  async #reporting(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof FormatError) this.#report(error);
      else if (error instanceof RecordfsError && error.code === "too-large") {
        this.#report(
          new FormatError("too-large", error.message, { path: error.path }),
        );
      } else throw error;
      return false;
    }
  }

  #report(damage: FormatError): void {
    this.#damaged++;
    this.#options.onDamage(damage);
  }
}

/** The sizes before values, of samples one behind the other. */
class Heads {
  readonly #source: ByteSource;
  readonly #signal: AbortSignal | undefined;
  #start = 0;
  #bytes = new Uint8Array(0);

  constructor(source: ByteSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  /** @param length Inside the source. */
  async at(start: number, length: number): Promise<DataView> {
    if (start + length > this.#start + this.#bytes.length) {
      const wanted = Math.max(length, WINDOW);
      const most = Math.min(wanted, this.#source.size - start);
      const reading = readPart(this.#source, start, most);
      this.#bytes = await runAsync(reading, this.#signal);
      this.#start = start;
    }
    const { buffer } = this.#bytes;
    return new DataView(buffer, start - this.#start, length);
  }
}
