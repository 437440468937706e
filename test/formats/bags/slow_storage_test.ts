/**
 * Valid and damaged bags and datasets in a storage whose replies are asynchronous; the contract suite covers trees
 * and checks.
 */
import assert from "node:assert/strict";
import { RecordfsError } from "../../../src/base/errors.ts";
import { bags } from "../../../src/formats/bags/format.ts";
import {
  BagReader,
  type DatasetReader,
  ShardedDatasetReader,
} from "../../../src/formats/bags/mod.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { LOCAL_DISK, type Storage } from "../../../src/io/storage/storage.ts";
import { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { bagCases, datasetCases } from "../../support/bags/bag_golden.ts";
import { u64s } from "../../support/bags/make_bag.ts";
import { sha256 } from "../../support/golden.ts";
import { slowStorage } from "../../support/slow_storage.ts";

/** Hash of an empty record, which is read without waiting. */
const EMPTY = sha256(new Uint8Array(0));

/** Number of datapoints and records that are read one by one. */
const FEW = 12;

/** Returns the value of an operation, or a description of its error. */
async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return plain(await work());
  } catch (error) {
    assert.ok(error instanceof RecordfsError, String(error));
    return { code: error.code, message: error.message };
  }
}

/** Replaces bytes by their hash, to keep failure messages short. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return sha256(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [key, plain(own)]),
  );
}

/** Returns every other index, backwards, and the first one again. */
function someOf(length: number): number[] {
  const step = Math.max(1, Math.floor(length / FEW));
  const indices: number[] = [];
  for (let i = length - 1; i >= 0; i -= step) indices.push(i);
  return [...indices, ...indices.slice(-1)];
}

async function bagOutcome(
  path: string,
  storage: Storage,
  cacheIndex: boolean,
): Promise<unknown> {
  return await outcome(async () => {
    using bag = await BagReader.open(path, {
      storage,
      cacheIndex,
      onWarning: () => {},
    });
    const { length, size, generation } = bag;
    const some = someOf(length);
    const each = await Promise.all(some.map((i) => outcome(() => bag.get(i))));
    for (const [i, index] of some.entries()) {
      const isThere = typeof each[i] === "string" && each[i] !== EMPTY;
      if (storage === LOCAL_DISK || !isThere) continue;
      assert.throws(() => bag.getSync(index), { code: "must-wait" });
      assert.throws(() => bag.readSync([index]), { code: "must-wait" });
    }
    return {
      length,
      size,
      generation,
      each,
      batch: await outcome(() => bag.read(some)),
      range: await outcome(() => bag.range(0, length)),
    };
  });
}

async function readerOutcome(
  path: string,
  storage: Storage,
  options: { cacheIndex: boolean; parallel: boolean; decoders?: null },
): Promise<unknown> {
  return await outcome(async () => {
    using reader: DatasetReader = await ShardedDatasetReader.open(path, {
      ...options,
      storage,
      onWarning: () => {},
    });
    const { length, size, generation, spec, keys } = reader;
    const some = someOf(length);
    if (length > 0 && keys.length > 0 && storage !== LOCAL_DISK) {
      assert.throws(() => reader.getSync(0), { code: "must-wait" });
      assert.throws(() => reader.readSync([0]), { code: "must-wait" });
    }
    return {
      length,
      size,
      generation,
      spec,
      each: await Promise.all(some.map((i) => outcome(() => reader.get(i)))),
      there: await Promise.all(
        some.map((i) => outcome(() => reader.available(i))),
      ),
      batch: await outcome(() => reader.read(some)),
      range: await outcome(() => reader.range(0, length)),
    };
  });
}

const all = [...bagCases, ...datasetCases];

for (const [seed, { name, path, kind }] of all.entries()) {
  Deno.test(`${name}: a slow storage yields the same`, async () => {
    const slow = slowStorage(seed);
    const same = async (of: (storage: Storage) => Promise<unknown>) =>
      assert.deepEqual(await of(slow), await of(LOCAL_DISK));
    for (const cacheIndex of [true, false]) {
      if (kind === "bag") {
        await same((storage) => bagOutcome(path, storage, cacheIndex));
        continue;
      }
      const options = { cacheIndex, parallel: cacheIndex };
      await same((storage) => readerOutcome(path, storage, options));
      const raw = { ...options, decoders: null };
      await same((storage) => readerOutcome(path, storage, raw));
    }
  });
}

Deno.test("a tree from a slow storage is not shared", async () => {
  const { path } = datasetCases.find(({ name }) =>
    name === "granular2/sharded"
  )!;
  const container = await runAsync(
    bags.open(path, { storage: slowStorage(1) }),
  );
  using far = new VirtualFs(path, container, true);
  assert.throws(() => far.tree.share(), { code: "unsupported" });
});

Deno.test("a batch from more shards than are cached of local ones is read from blobs", async () => {
  const names = Array.from( // of 20 keys: more than 4096 files
    { length: 210 },
    (_, shard) => String(shard).padStart(6, "0"),
  );
  const keys = Array.from({ length: 20 }, (_, k) => `k${k + 10}`);
  const spec = Object.fromEntries(keys.map((key) => [key, "bytes"]));
  const files: Record<string, Blob> = {};
  for (const [shard, name] of names.entries()) {
    files[`data/${name}/spec.json`] = new Blob([JSON.stringify(spec)]);
    for (const [k, key] of keys.entries()) {
      const value = Uint8Array.of(shard, k);
      files[`data/${name}/${key}.bag`] = new Blob([value]);
      files[`data/${name}/${key}.idx`] = new Blob([Uint8Array.from(u64s([2]))]);
    }
  }
  const storage = new MemoryStorage(files);
  const container = await runAsync(bags.open("data", { storage }));
  using fs = new VirtualFs("data", container, true);
  const read = await fs.read(names.map((name) => `${name}/000000/k15`));
  assert.deepEqual(
    read.map((bytes) => [...bytes]),
    names.map((_, shard) => [shard, 5]),
  );
});
