import { FormatError, RecordfsError } from "../../base/errors.ts";
import { DecodedBlocks } from "../../io/decoded/decoded_blocks.ts";
import { HeadWindows } from "../../io/read/head_windows.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { type FileHash, newFileHash } from "../../io/sums/file_hash.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { requireSoundList } from "./encodings/list_value.ts";
import { asBadValue } from "./encodings/value_fault.ts";
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
/**
 * Compares the files of all shards with the sizes and hashes that the index has, what is compressed in them as well, and
 * each sample's values with its size.
 */
export async function checkShards(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const found = await run.run(findShards(location, run.storage));
  return await new Check(found, run).run();
}

class Check {
  readonly #found: FoundShards;
  readonly #run: CheckRun;
  /** Hashes that nobody here knows, each of which is told once. */
  readonly #unknown = new Set<string>();

  constructor(found: FoundShards, run: CheckRun) {
    this.#found = found;
    this.#run = run;
  }

  async run(): Promise<CheckReport> {
    const run = this.#run;
    const files = this.#found.index.shards.map(({ raw, zip }) => zip ?? raw);
    run.total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const names = new ShardNames(this.#found, run.storage);
    await run.run(names.list());
    let [samples, bytes] = [0, 0];
    for (const number of files.keys()) {
      run.signal?.throwIfAborted();
      await this.#part(async () => {
        const { file, shard } = await run.run(
          openShard(this.#found, names, number, run.storage),
        );
        bytes += file.size;
        samples += shard.samples;
        try {
          await this.#shard(number, file, shard);
        } finally {
          file.close();
        }
      });
    }
    run.total = bytes;
    const hasHashes = this.#found.index.shards.some(({ raw, zip }) =>
      [raw, zip].some((file) => Object.keys(file?.hashes ?? {}).length > 0)
    );
    const compares = hasHashes ? "contents" : "structure";
    return run.report({ samples, compares });
  }

  async #shard(
    number: number,
    file: ByteSource,
    shard: ShardFile,
  ): Promise<void> {
    const { raw, zip } = this.#found.index.shards[number]!;
    await this.#part(() =>
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
      this.#run.storage,
      [file],
    );
    const content = await this.#run.run(store.content(0));
    if (isCompressed(shard)) {
      const isSound = await this.#part(() =>
        this.#hash(content, raw, shard.path, true)
      );
      if (!isSound) return; // there is nothing to look at
    }
    await this.#part(() => this.#structure(store, content, number));
  }

  async #hash(
    source: ByteSource,
    { hashes }: FileFacts,
    path: string,
    isDecompressed = false,
  ): Promise<void> {
    const run = this.#run;
    const taken: [string, FileHash][] = [];
    for (const name of Object.keys(hashes)) {
      const hash = await newFileHash(name);
      if (hash === undefined) this.#warn(name);
      else taken.push([name, hash]);
    }
    for (let at = 0; at < source.size; at += PIECE) {
      const length = Math.min(PIECE, source.size - at);
      const piece = await run.run(readPart(source, at, length));
      for (const [, hash] of taken) hash.update(piece);
      if (!isDecompressed) run.advance(length);
    }
    for (const [name, hash] of taken) {
      const [expected, actual] = [hashes[name]!.toLowerCase(), hash.digest()];
      if (expected === actual) continue;
      const what = isDecompressed ? "what is compressed in it" : "it";
      run.damage(
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
    const run = this.#run;
    const [shard] = store.shards;
    const { path, rawBytes, samples } = shard!;
    const tables = new SampleTables(store);
    const table = await run.run(tables.table(0));
    const columns = store.sets[shard!.set]!;
    const { bytes } = await run.run(readConfig(content));
    const own = bytes.length === 0 ? columns : parseConfig(bytes, path);
    const words = (all: typeof columns) =>
      JSON.stringify(all.map(({ name, encoding }) => [name, encoding.word]));
    if (words(own) !== words(columns)) {
      run.damage(
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
      run.damage(
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
    const windows = new HeadWindows(content, 1, size);
    const lists = columns.flatMap(({ name, encoding }, column) =>
      encoding.list === undefined ? [] : [{ name, column, list: encoding.list }]
    );
    for (let sample = 0; sample < samples; sample++) {
      const start = startIn(table, sample);
      const length = startIn(table, sample + 1) - start;
      let starts: Float64Array | undefined;
      if (size <= length) {
        let at = windows.find(start, size);
        if (at < 0) {
          await run.run(windows.move(start, undefined));
          at = 0;
        }
        const head = new DataView(windows.bytes.buffer, at, size);
        starts = valueStarts(columns, head, length);
      }
      if (starts === undefined) {
        run.damage(badSizes(path, sample, sample));
        continue;
      }
      for (const { name, column, list } of lists) {
        const place = {
          source: content,
          offset: start + starts[column]!,
          length: starts[column + 1]! - starts[column]!,
        };
        try {
          await run.run(requireSoundList(list, place));
        } catch (cause) {
          run.damage(asBadValue({ path, sample, column: name }, cause));
        }
      }
    }
  }

  #warn(name: string): void {
    if (this.#unknown.has(name)) return;
    this.#unknown.add(name);
    this.#run.warn(
      `${this.#found.path} has hashes of the kind '${name}', which is not known here: they are not compared`,
    );
  }

  /** Does a part of the check: what is too large to be looked at counts as damaged. */
  #part(work: () => Promise<void>): Promise<boolean> {
    return this.#run.part(async () => {
      try {
        await work();
      } catch (error) {
        const isTooLarge = error instanceof RecordfsError &&
          error.code === "too-large";
        if (!isTooLarge || error instanceof FormatError) throw error;
        const { message, path } = error;
        throw new FormatError("too-large", message, { path });
      }
    });
  }
}
