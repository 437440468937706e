/** Containers that cannot be opened leave no open files. */
import assert from "node:assert/strict";
import { openSync } from "../../../../src/open/mod.ts";
import { descriptorsBelowNow } from "../../../support/programs/descriptors.ts";
import { writeBag, writeDataset } from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

Deno.test("a bag whose records cannot be named with the suffix is closed again", async () => {
  await withTempDir((dir) => {
    writeBag(`${dir}/a.bag`, [Uint8Array.of(1)], 2);
    assert.throws(() => openSync(`${dir}/a.bag`, { ext: "a/b" }), TypeError);
    assert.equal(descriptorsBelowNow(dir), 0);
  });
});

Deno.test("a dataset with more records than node ids is closed again", async () => {
  await withTempDir((dir) => {
    const shards = 2 ** 7;
    for (let i = 0; i < shards; i++) {
      Deno.mkdirSync(`${dir}/${String(i).padStart(6, "0")}`);
    }
    const keys = Array.from({ length: 250 }, (_, i) => `k${i}`);
    const spec = Object.fromEntries(keys.map((key) => [key, "bytes"]));
    writeDataset(`${dir}/000000`, spec, [], 3);
    for (const key of keys) {
      // A row has 1,001 nodes: with 2^7 shards of 2^37 rows, there are more than 2^53 nodes.
      Deno.truncateSync(`${dir}/000000/${key}.idx`, 8 * 2 ** 37);
    }
    assert.throws(() => openSync(dir), { code: "too-large" });
    assert.equal(descriptorsBelowNow(dir), 0);
  });
});
