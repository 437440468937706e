/** Makes shards and indexes of MDS, valid and invalid. */
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";

/** Name, encoding and fixed size of a column; the size is `null` if it varies. */
export type MadeColumn = readonly [string, string, number | null];

/** Falsified parts of a shard. */
export interface ShardChanges {
  readonly config?: unknown;
  /** Falsifies its table: the number of samples, and their offsets with the end of the last. */
  readonly table?: (numbers: number[]) => number[];
}

/** Columns of samples of a number and a text. */
export const COLUMNS: readonly MadeColumn[] = [
  ["n", "int", 8],
  ["t", "str", null],
];

/** Returns a sample of these columns. */
export function sampleOf(n: number, text: string, size?: number): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(size ?? bytes.length, 0);
  head.writeBigInt64LE(BigInt(n), 4);
  return Buffer.concat([head, bytes]);
}

/** Returns a shard. */
export function shardOf(
  samples: readonly Uint8Array[],
  columns: readonly MadeColumn[] = COLUMNS,
  { config, table }: ShardChanges = {},
): Buffer {
  const text = Buffer.from(JSON.stringify(config ?? configOf(columns)));
  const numbers = [samples.length];
  let at = 4 * (samples.length + 2) + text.length;
  numbers.push(at);
  for (const { length } of samples) numbers.push(at += length);
  const words = Uint32Array.from(table?.(numbers) ?? numbers);
  return Buffer.concat([new Uint8Array(words.buffer), text, ...samples]);
}

/** Returns the configuration in a shard. */
export function configOf(
  columns: readonly MadeColumn[] = COLUMNS,
): Record<string, unknown> {
  return {
    "column_encodings": columns.map(([, encoding]) => encoding),
    "column_names": columns.map(([name]) => name),
    "column_sizes": columns.map(([, , size]) => size),
    "compression": null,
    "format": "mds",
    "hashes": [],
    "size_limit": 1 << 26,
    "version": 2,
  };
}

/** Returns the entry of a shard in an index. */
export function entryOf(
  basename: string,
  bytes: number,
  samples: number,
  columns: readonly MadeColumn[] = COLUMNS,
): Record<string, unknown> {
  return {
    ...configOf(columns),
    "raw_data": { basename, bytes, hashes: {} },
    samples,
    "zip_data": null,
  };
}

/** File name of a valid shard. */
export const NAME = "shard.00000.mds";
export const SAMPLES: readonly Uint8Array[] = [
  sampleOf(1, "one"),
  sampleOf(2, ""),
  sampleOf(-3, "three"),
];
export const SHARD: Uint8Array = shardOf(SAMPLES);

/** Returns the index entry of this shard, with changes. */
export function entry(
  changes: Record<string, unknown> = {},
  bytes: number = SHARD.length,
): Record<string, unknown> {
  return { ...entryOf(NAME, bytes, SAMPLES.length), ...changes };
}

/** Returns a storage with an index and files in the directory `d`. */
export function datasetOf(
  shards: readonly unknown[],
  files: Readonly<Record<string, Uint8Array>>,
  more: Record<string, unknown> = {},
): MemoryStorage {
  const index = JSON.stringify({ shards, version: 2, ...more });
  return new MemoryStorage({
    "d/index.json": new TextEncoder().encode(index),
    ...Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [
        `d/${name}`,
        new Uint8Array(bytes),
      ]),
    ),
  });
}
