import { FormatError, RecordfsError } from "../../base/errors.ts";
import { DecodedBlocks } from "../../io/block_cache/decoded_blocks.ts";
import { HeadWindows } from "../../io/read/head_windows.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import { readUnlessWrong } from "../../io/read/verified_content.ts";
import {
  type FileHash,
  newFileHash,
  newSystemHash,
} from "../../io/checksums/file_hash.ts";
import { CheckRun } from "../check/check_run.ts";
import type { CheckOptions, CheckReport } from "../format.ts";
import { requireSoundList } from "./list_value.ts";
import { asBadValue } from "./value_fault.ts";
import { bytesKept } from "./compressed_shard.ts";
import type {
  Column,
  FileFacts,
  FindShards,
  FoundShards,
} from "./shard_index.ts";
import {
  badSizes,
  headSize,
  SampleTables,
  startIn,
  valueStarts,
} from "./sample_tables.ts";
import { openShard, ShardNames } from "./open_field_shards.ts";
import { isCompressed, type ShardFile, ShardStore } from "./shard_store.ts";

const PIECE = 1 << 20;

/** Reads the columns that a shard itself says it has; `undefined` if it says none. */
type ReadColumns = (
  content: ByteSource,
) => Steps<readonly Column[] | undefined>;

/**
 * Verifies shard files and their decompressed data against the index, and each sample's values against its size.
 *
 * @param columnsIn Absent in a format whose shards do not say their columns.
 */
export async function checkFieldShards(
  find: FindShards,
  location: string,
  options: CheckOptions,
  columnsIn?: ReadColumns,
): Promise<CheckReport> {
  const run = new CheckRun(options);
  const found = await run.run(find(location, run.storage));
  return await new FieldShardsCheck(found, run, columnsIn).run();
}

class FieldShardsCheck {
  readonly #columnsIn: ReadColumns | undefined;
  readonly #found: FoundShards;
  readonly #run: CheckRun;
  /** Unknown hash algorithms already warned about. */
  readonly #unknown = new Set<string>();
  /** Whether the current shard has been counted as damaged. */
  #isCounted = false;

  constructor(
    found: FoundShards,
    run: CheckRun,
    columnsIn: ReadColumns | undefined,
  ) {
    this.#columnsIn = columnsIn;
    this.#found = found;
    this.#run = run;
  }

  async run(): Promise<CheckReport> {
    const run = this.#run;
    const files = this.#found.index.shards.map(({ raw, packed }) =>
      packed ?? raw
    );
    run.total = files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
    const names = new ShardNames(this.#found, run.storage);
    await run.run(names.list());
    let [samples, bytes, first] = [0, 0, 0];
    for (const number of files.keys()) {
      run.signal?.throwIfAborted();
      this.#isCounted = false;
      await this.#part(async () => {
        const { file, shard } = await run.run(
          openShard(this.#found, names, number, run.storage),
        );
        bytes += file.size;
        samples += shard.damage?.whole ?? shard.samples;
        try {
          await this.#shard(number, file, shard, first);
        } finally {
          file.close();
        }
      });
      first += this.#found.index.shards[number]!.samples;
    }
    run.total = bytes;
    const hasHashes = this.#found.index.shards.some(({ raw, packed }) =>
      [raw, packed].some((file) => Object.keys(file?.hashes ?? {}).length > 0)
    );
    const compares = hasHashes ? "contents" : "structure";
    return run.report({ samples, compares });
  }

  /** @param first Index of the shard's first sample in the dataset. */
  async #shard(
    number: number,
    file: ByteSource,
    shard: ShardFile,
    first: number,
  ): Promise<void> {
    const { raw, packed } = this.#found.index.shards[number]!;
    const { path, damage } = shard;
    if (damage === undefined) {
      const facts = isCompressed(shard) ? packed! : raw;
      await this.#part(() => this.#hash(file, facts, path));
    } else { // a truncated file cannot match its hash
      const { code, message } = damage;
      this.#damaged(new FormatError(code, message, { path }));
    }
    // A cache of its own instead of the shared one: each shard is read once.
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
        cache: false,
      },
      this.#run.storage,
      [file],
    );
    const content = await this.#run.run(store.content(0));
    if (isCompressed(shard)) {
      const isSound = await this.#part(() =>
        this.#hash(content, raw, path, true)
      );
      if (!isSound) return; // no content to check
    }
    await this.#part(() => this.#structure(store, content, number, first));
  }

  async #hash(
    source: ByteSource,
    { hashes }: FileFacts,
    path: string,
    isDecompressed = false,
  ): Promise<void> {
    const run = this.#run;
    let done = 0;
    const advanceTo = (offset: number) => {
      if (isDecompressed || offset <= done) return;
      run.advance(offset - done);
      done = offset;
    };
    const wrong = await run.run(
      readUnlessWrong(
        source,
        () => this.#wrongHashes(source, hashes, advanceTo),
        ({ length }) =>
          length === 0 ? undefined : { offset: 0, length: source.size },
      ),
    );
    const what = isDecompressed ? "the decompressed content" : "it";
    const [one] = wrong;
    if (one === undefined) return;
    const { expected, actual } = one;
    const all = wrong.map(({ name, expected, actual }) =>
      `${name} of ${what} is ${actual}, and the index says ${expected}`
    );
    this.#damaged(
      new FormatError(
        "sample-checksum",
        `Cannot read ${path}: checksum mismatch: ${all.join("; ")}: it is ` +
          "damaged. Download it again",
        { path, expected, actual },
      ),
    );
  }

  /** Returns the hashes that differ from those in the index. */
  *#wrongHashes(
    source: ByteSource,
    hashes: FileFacts["hashes"],
    advanceTo: (offset: number) => void,
  ): Steps<{ name: string; expected: string; actual: string }[]> {
    const taken: [string, FileHash][] = [];
    for (const name of Object.keys(hashes)) {
      const hash = yield* perform<FileHash | undefined>({
        sync: () => newSystemHash(name),
        async: () => newFileHash(name),
      });
      if (hash === undefined) this.#warn(name);
      else taken.push([name, hash]);
    }
    for (let at = 0; at < source.size; at += PIECE) {
      const length = Math.min(PIECE, source.size - at);
      const piece = yield* readPart(source, at, length);
      for (const [, hash] of taken) hash.update(piece);
      advanceTo(at + length);
    }
    return taken.map(([name, hash]) => {
      const [expected, actual] = [hashes[name]!.toLowerCase(), hash.digest()];
      return { name, expected, actual };
    }).filter(({ expected, actual }) => expected !== actual);
  }

  async #structure(
    store: ShardStore,
    content: ByteSource,
    number: number,
    first: number,
  ): Promise<void> {
    const run = this.#run;
    const [shard] = store.shards;
    const { path, rawBytes, damage } = shard!;
    const samples = damage?.whole ?? shard!.samples;
    const tables = new SampleTables(store);
    const table = await run.run(tables.table(0));
    const columns = store.sets[shard!.set]!;
    const said = this.#columnsIn?.(content);
    const own = (said && await run.run(said)) ?? columns;
    const words = (all: typeof columns) =>
      JSON.stringify(all.map(({ name, encoding }) => [name, encoding.word]));
    if (words(own) !== words(columns)) {
      this.#damaged(
        new FormatError(
          "bad-structure",
          `Cannot read ${path}: its configuration has other columns than shard ${number} of the index: one of them was ` +
            "changed. Download both again",
          { path, expected: words(columns), actual: words(own) },
        ),
      );
    }
    const end = startIn(table, shard!.samples);
    if (end !== rawBytes) {
      this.#damaged(
        new FormatError(
          "bad-structure",
          `Cannot read ${path}: it has ${
            rawBytes - end
          } bytes after its last ` + "sample: it is damaged. Download it again",
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
        run.damage(badSizes(path, first + sample, sample));
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
          const place = { path, sample: first + sample, column: name };
          run.damage(asBadValue(place, cause));
        }
      }
    }
  }

  #warn(name: string): void {
    if (this.#unknown.has(name)) return;
    this.#unknown.add(name);
    this.#run.warn(
      `${this.#found.path} has hashes of the unknown kind '${name}', ` +
        "which are not compared",
    );
  }

  /**
   * Runs a part of a shard's check; returns whether it finished. A shard that is too large to check counts as damaged.
   */
  async #part(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const isTooLarge = error instanceof RecordfsError &&
        error.code === "too-large";
      const { message, path } = error as RecordfsError;
      this.#damaged(
        isTooLarge ? new FormatError("too-large", message, { path }) : error,
      );
      return false;
    }
  }

  /** Reports damage of the whole shard, at most once per shard. */
  #damaged(error: unknown): void {
    if (error instanceof FormatError && this.#isCounted) return;
    this.#isCounted = true;
    this.#run.damage(error);
  }
}
