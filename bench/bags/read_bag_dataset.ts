/**
 * Reads datapoints of a dataset as bytes: `WAY DIRECTORY INDICES`, like `reference/bags_read.py`. Views are read by
 * taking their CRC-32, since making a view reads nothing.
 *
 * @module
 */
import { crc32 } from "node:zlib";
import {
  DatasetReader,
  type Mask,
  RecordMemory,
} from "../../src/formats/bags/mod.ts";

const SMALL_KEYS: Mask = ["id", "label"];
const memory = new RecordMemory();

interface Way {
  readonly mask?: Mask;
  readonly options?: { readonly memory: RecordMemory };
  readonly cacheIndex?: boolean;
  readonly views?: boolean;
}

const WAYS: Record<string, Way> = {
  raw: {},
  "raw-memory": { options: { memory } },
  "raw-view": { views: true },
  mask: { mask: SMALL_KEYS },
  "mask-memory": { mask: SMALL_KEYS, options: { memory } },
  "mask-view": { mask: SMALL_KEYS, views: true },
  uncached: { cacheIndex: false },
  "uncached-memory": { cacheIndex: false, options: { memory } },
  "uncached-view": { cacheIndex: false, views: true },
};

const [name, path, indicesPath] = Deno.args;
const way = WAYS[name ?? ""];
if (way === undefined || path === undefined || indicesPath === undefined) {
  throw new Error(`Give one of ${Object.keys(WAYS)}, DIRECTORY and INDICES`);
}
const { mask, options, cacheIndex = true, views = false } = way;
const indices: number[] = JSON.parse(await Deno.readTextFile(indicesPath));
using reader = await DatasetReader.open(path, { decoders: null, cacheIndex });

let checksum = 0;
readAll();
const start = performance.now();
const bytes = readAll();
const seconds = (performance.now() - start) / 1000;
Deno.stdout.writeSync(
  new TextEncoder().encode(JSON.stringify({ seconds, bytes, checksum })),
);

function readAll(): number {
  let size = 0;
  for (const index of indices) {
    const datapoint = views
      ? reader.unsafeView(index, mask)
      : reader.getSync(index, mask, options);
    for (const key in datapoint) {
      const value = datapoint[key] as Uint8Array;
      size += value.length;
      if (views) checksum ^= crc32(value);
    }
  }
  return size;
}
