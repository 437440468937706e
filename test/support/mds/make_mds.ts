/** Shards and indexes of MDS, made here: right ones, and such as no writer makes. */
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";

/** A column by its name, encoding, and size, where it has one. */
export type MadeColumn = readonly [string, string, number | null];

/** What a shard may say wrong. */
export interface ShardChanges {
  readonly config?: unknown;
  /** Its numbers: of samples, where each starts, and where the last one ends. */
  readonly table?: (numbers: number[]) => number[];
}

/** The columns of samples that are a number and a text. */
export const COLUMNS: readonly MadeColumn[] = [
  ["n", "int", 8],
  ["t", "str", null],
];

/** A sample of such. */
export function sampleOf(n: number, text: string, size?: number): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(size ?? bytes.length, 0);
  head.writeBigInt64LE(BigInt(n), 4);
  return Buffer.concat([head, bytes]);
}

/** A shard. */
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

/** What a shard says of itself. */
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

/** What an index says of a shard. */
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

/** A shard that is right, and what it is called. */
export const NAME = "shard.00000.mds";
export const SAMPLES: readonly Uint8Array[] = [
  sampleOf(1, "one"),
  sampleOf(2, ""),
  sampleOf(-3, "three"),
];
export const SHARD: Uint8Array = shardOf(SAMPLES);

/** What an index says of it, but for what is changed. */
export function entry(
  changes: Record<string, unknown> = {},
  bytes: number = SHARD.length,
): Record<string, unknown> {
  return { ...entryOf(NAME, bytes, SAMPLES.length), ...changes };
}

/** A dataset in memory, at `d`: its index, and files by their names. */
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
