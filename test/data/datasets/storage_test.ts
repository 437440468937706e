import assert from "node:assert/strict";
import {
  datasetFrom,
  FFRecordDataset,
  readIndexFile,
  Subset,
} from "../../../src/open/data/mod.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { goldenCase } from "../../support/golden.ts";
import { slowStorage } from "../../support/slow_storage.ts";

const { path } = goldenCase("ffrecord/packed_tree");

function inMemory(): MemoryStorage {
  return new MemoryStorage({ [path]: Deno.readFileSync(path) });
}

Deno.test("indices are read from their own storage", async () => {
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
      message: /^Cannot read bad.txt, line 2/,
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
      message: /Cannot send the options of datasetFrom to another thread/,
    });
  }
});
