import assert from "node:assert/strict";
import {
  DataLoader,
  type Dataset,
  datasetFrom,
  FFRecordDataset,
  FileDataset,
  PackedFolderDataset,
  readIndexFile,
  Subset,
} from "../../../src/open/data/mod.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../src/io/storage/storage.ts";
import { goldenCase } from "../../support/golden.ts";
import { slowStorage } from "../../support/slow_storage.ts";
import portableStorage from "../support/portable_storage.ts";

const { path } = goldenCase("ffrecord/packed_tree");

/** The datasets of a packed folder. */
const OPEN: Record<
  string,
  (path: string, storage?: Storage) => Promise<Dataset<unknown>>
> = {
  FFRecordDataset: (path, storage) => FFRecordDataset.open(path, { storage }),
  PackedFolderDataset: (path, storage) =>
    PackedFolderDataset.open(path, { storage }),
  FileDataset: (path, storage) => FileDataset.open(path, { storage }),
};

async function load(
  dataset: Dataset<unknown>,
  numWorkers: number,
): Promise<unknown[]> {
  using _ = dataset;
  const options = { batchSize: 5, shuffle: true, collate: false } as const;
  await using loader = new DataLoader<unknown, unknown[]>(dataset, {
    ...options,
    numWorkers,
  });
  return (await Array.fromAsync(loader)).flat();
}

for (const [name, open] of Object.entries(OPEN)) {
  Deno.test(`${name}: threads are refused where they could not find the files`, async () => {
    const local = await load(await open(path), 0);
    for (const storage of [slowStorage(5), inMemory()]) {
      await assert.rejects(load(await open(path, storage), 1), {
        name: "DataError",
        code: "not-portable",
        path,
        message:
          /packed_tree.* lies in a storage that the loader's worker threads cannot open: load with numWorkers: 0/,
      });
      assert.deepEqual(await load(await open(path, storage), 0), local);
    }
  });

  Deno.test(`${name}: threads make a storage that says how`, async () => {
    const found = await load(await open(`far:${path}`, portableStorage()), 2);
    assert.deepEqual(found, await load(await open(path), 0));
  });
}

function inMemory(): MemoryStorage {
  return new MemoryStorage({ [path]: Deno.readFileSync(path) });
}

Deno.test("indices are read from where they lie", async () => {
  const storage = new MemoryStorage({
    "some.txt": new TextEncoder().encode("# three\n7\n0\n7\n"),
    "bad.txt": new TextEncoder().encode("7\nseven\n"),
  });
  for (const from of [storage, slowStorage(6, storage)]) {
    const options = { storage: from };
    const indices = await readIndexFile("some.txt", 10, options);
    assert.deepEqual([...indices], [7, 0, 7]);
    const whole = await FFRecordDataset.open(path);
    using some = await Subset.fromFile(whole, "some.txt", options);
    assert.deepEqual(await some.get([1, 2]), await whole.get([0, 7]));
    await assert.rejects(readIndexFile("bad.txt", 10, options), {
      code: "bad-indices",
      message: /^bad.txt, line 2/,
    });
    await assert.rejects(readIndexFile("none.txt", 10, options), {
      code: "ENOENT",
    });
  }
});

Deno.test("a dataset from a module is not given a storage that cannot be posted", async () => {
  const module = new URL("../support/custom_dataset.ts", import.meta.url);
  for (const storage of [slowStorage(7), inMemory()]) {
    await assert.rejects(datasetFrom(module, { path, storage }), {
      name: "DataError",
      code: "not-portable",
      message: /cannot be posted to another thread/,
    });
  }
});
