/** Results of `check` for hashes, compressed files, and each shard. */
import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import { Buffer } from "node:buffer";
import { zstdCompressSync } from "node:zlib";
import {
  COLUMNS,
  configOf,
  datasetOf,
  entry,
  entryOf,
  NAME,
  SAMPLES,
  SHARD,
  shardOf,
} from "../../support/mds/make_mds.ts";

Deno.test("check names shards with wrong hashes, and unknown kinds of hashes", async () => {
  const hashes = { sha1: "00", xxh64: "11", md5: "22", "no-hash": "x" };
  const raw = { basename: NAME, bytes: SHARD.length, hashes };
  const storage = datasetOf([entry({ "raw_data": raw })], { [NAME]: SHARD });
  const { damaged, samples, damages, warnings } = await checked("d", {
    storage,
  });
  assert.deepEqual([damaged, samples], [1, 3]); // a single shard
  for (const name of ["sha1", "xxh64", "md5"]) {
    assert.ok(damages[0]!.message.includes(`${name} of it is`), name);
  }
  assert.match(warnings.join(), /hashes of the unknown kind 'no-hash'/);
  assert.equal(warnings.length, 1);
});

Deno.test("check verifies the hashes of compressed files, each shard, and its own columns", async () => {
  const other = shardOf(SAMPLES, COLUMNS, {
    config: configOf([["n", "int64", 8], ["t", "str", null]]),
  });
  const trailing = Buffer.concat([SHARD, Buffer.alloc(5)]);
  const zip = zstdCompressSync(SHARD);
  const storage = datasetOf([
    entryOf("a.mds", other.length, 3),
    entryOf("b.mds", trailing.length, 3),
    {
      ...entryOf("c.mds", SHARD.length, 3),
      compression: "zstd",
      "raw_data": {
        basename: "c.mds",
        bytes: SHARD.length,
        hashes: { sha256: "0" },
      },
      "zip_data": { basename: "c.mds.zstd", bytes: zip.length, hashes: {} },
    },
    entryOf("gone.mds", 100, 3),
    entryOf("d.mds", SHARD.length, 3),
  ], { "a.mds": other, "b.mds": trailing, "c.mds.zstd": zip, "d.mds": SHARD });
  const { damages, samples } = await checked("d", { storage });
  assert.equal(damages.length, 4, damages.join("\n"));
  assert.match(
    damages[0]!.message,
    /a\.mds: its configuration has other columns/,
  );
  assert.match(
    damages[1]!.message,
    /b\.mds: it has 5 bytes after its last sample/,
  );
  assert.match(
    damages[2]!.message,
    /c\.mds\.zstd: checksum mismatch: sha256 of the decompressed content/,
  );
  assert.match(damages[3]!.message, /gone\.mds: it is missing/);
  assert.equal(samples, 12);
});
