/**
 * Reads datapoints of a dataset as bytes: `WAY DIRECTORY INDICES`, as `reference/bags_read.py`.
 *
 * @module
 */
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
}

const WAYS: Record<string, Way> = {
  raw: {},
  "raw-memory": { options: { memory } },
  mask: { mask: SMALL_KEYS },
  "mask-memory": { mask: SMALL_KEYS, options: { memory } },
  uncached: { cacheIndex: false },
  "uncached-memory": { cacheIndex: false, options: { memory } },
};

const [name, path, indicesPath] = Deno.args;
const way = WAYS[name ?? ""];
if (way === undefined || path === undefined || indicesPath === undefined) {
  throw new Error(`Give one of ${Object.keys(WAYS)}, DIRECTORY and INDICES`);
}
const { mask, options, cacheIndex = true } = way;
const indices: number[] = JSON.parse(await Deno.readTextFile(indicesPath));
using reader = await DatasetReader.open(path, { decoders: null, cacheIndex });

readAll();
const start = performance.now();
const bytes = readAll();
const seconds = (performance.now() - start) / 1000;
Deno.stdout.writeSync(
  new TextEncoder().encode(JSON.stringify({ seconds, bytes })),
);

function readAll(): number {
  let size = 0;
  for (const index of indices) {
    const datapoint = reader.getSync(index, mask, options);
    for (const key in datapoint) size += (datapoint[key] as Uint8Array).length;
  }
  return size;
}
