import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { LruCache } from "../../io/block_cache/lru_cache.ts";
import { fillNow } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { tableSize, WORD } from "./layout.ts";
import type { Column } from "./shard_index.ts";
import { isOfWholeShard } from "./shard_damage.ts";
import type { ShardFile, ShardStore } from "./shard_store.ts";

/** Cache capacity for tables in bytes; a larger table stays until the next is read. */
const MOST_BYTES = 64 << 20;

/** Sample offsets: the tables at the starts of shards, read on demand. */
export class SampleTables {
  readonly #store: ShardStore;
  /** Per shard: the number of samples, the start of each, and the end of the last. */
  readonly #tables = new LruCache<Uint32Array>(MOST_BYTES);
  /** Errors of shards without a valid table, so that they are not decompressed again for each sample. */
  readonly #faults = new Map<number, Error>();

  constructor(store: ShardStore) {
    this.#store = store;
  }

  known(shard: number): Uint32Array | undefined {
    return this.#tables.get(shard);
  }

  /** Reads the table of a shard, unless cached. */
  *table(shard: number): Steps<Uint32Array> {
    const known = this.known(shard);
    if (known !== undefined) return known;
    const fault = this.#faults.get(shard);
    if (fault !== undefined) throw fault;
    const source = yield* this.#store.content(shard);
    try {
      const table = yield* readTable(source, this.#store.shards[shard]!);
      this.#tables.set(shard, table, table.byteLength);
      return table;
    } catch (error) {
      if (isOfWholeShard(error)) this.#faults.set(shard, error);
      throw error;
    }
  }

  prefetch(shard: number): boolean {
    const { samples } = this.#store.shards[shard]!;
    const source = this.#store.opened(shard);
    return source?.prefetch?.(0, tableSize(samples)) ?? false;
  }
}

/** Returns the offset of a sample in its shard, which is the end of the one before. */
export function startIn(table: Uint32Array, number: number): number {
  return table[1 + number]!;
}

/**
 * Reads the table of a decompressed shard, whose end may be missing. Throws a {@linkcode FormatError} if it is damaged:
 * samples must be contiguous and inside the shard.
 */
export function* readTable(
  source: ByteSource,
  { samples, rawBytes, path }: Pick<ShardFile, "samples" | "rawBytes" | "path">,
): Steps<Uint32Array> {
  // Bounded: the index parser compared the count with the shard's size.
  const bytes = new Uint8Array(tableSize(samples));
  yield* fillNow(source, bytes, 0);
  const table = new Uint32Array(bytes.buffer);
  requireSound(table, samples, rawBytes, path);
  return table;
}

/** Counts the complete samples of a truncated shard; 0 if its table is unusable. */
export function* wholeSamples(
  file: ByteSource,
  shard: ShardFile,
): Steps<number> {
  if (file.size < tableSize(shard.samples)) return 0;
  try {
    const table = yield* readTable(file, shard);
    let whole = 0;
    while (whole < shard.samples && startIn(table, whole + 1) <= file.size) {
      whole++;
    }
    return whole;
  } catch (error) {
    if (isOfWholeShard(error)) return 0;
    throw error;
  }
}

function requireSound(
  table: Uint32Array,
  samples: number,
  size: number,
  path: string,
): void {
  if (table[0] !== samples) {
    throw new FormatError(
      "bad-structure",
      `Cannot read ${path}: it says that it has ${table[0]} samples, and ` +
        `the index says ${samples}: it is damaged, or belongs to another ` +
        "index. Download both again",
      { path, expected: samples, actual: table[0] },
    );
  }
  let last = tableSize(samples);
  for (let number = 0; number <= samples; number++) {
    const start = startIn(table, number);
    if (start >= last && start <= size) {
      last = start;
      continue;
    }
    throw new FormatError(
      "bad-offsets",
      `Cannot read sample ${number} of ${path}: out of bounds: it would ` +
        `start at byte ${start}, which must be between ${last} and ${size}: ` +
        "the file is damaged. Download it again",
      { path, offset: WORD * (1 + number), actual: start },
    );
  }
}

/** Returns the bytes before a sample's values: the sizes of variable-size values. */
export function headSize(columns: readonly Column[]): number {
  let variable = 0;
  for (const { encoding } of columns) {
    if (encoding.size === undefined) variable++;
  }
  return WORD * variable;
}

/**
 * Returns the offset of each value in a sample of `length` bytes, and the end of the last one; `undefined` if the
 * values do not fill the sample exactly. `head` are the sizes before the values.
 */
export function valueStarts(
  columns: readonly Column[],
  head: DataView,
  length: number,
): Float64Array | undefined {
  const starts = new Float64Array(columns.length + 1);
  let at = head.byteLength;
  let next = 0;
  for (const [column, { encoding }] of columns.entries()) {
    starts[column] = at;
    if (encoding.size === "rest") at = Math.max(at, length);
    else at += encoding.size ?? head.getUint32(next++ * WORD, true);
  }
  starts[columns.length] = at;
  return at === length ? starts : undefined;
}

export function badSizes(
  path: string,
  sample: number,
  number: number,
): FormatError {
  return new FormatError(
    "bad-structure",
    `Cannot read sample ${number} of ${path}: the sizes of its values ` +
      "do not add up to its own: the file is damaged. Download it again",
    { path, sample },
  );
}
