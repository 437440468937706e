/** Compressed shards: what they declare, bombs, and compressions that are not read. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { MDSReader } from "../../../../src/formats/mds/mod.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/vfs/mod.ts";
import {
  datasetOf,
  entry,
  NAME,
  SHARD,
} from "../../../support/mds/make_mds.ts";
import { assertRefused, read } from "../../../support/mds/refused.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

function zipped(
  data: Uint8Array,
  { suffix = "zstd", rawBytes = SHARD.length } = {},
) {
  const basename = `${NAME}.${suffix}`;
  const zip = { basename, bytes: data.length, hashes: {} };
  return datasetOf([
    { ...entry({}, rawBytes), compression: suffix, "zip_data": zip },
  ], { [basename]: data });
}

Deno.test("what a compressed shard declares is what it has, and bombs take no memory", async () => {
  const right = await read(zipped(zstdCompressSync(SHARD)));
  assert.equal(right.length, 3);
  assert.equal(
    (await read(zipped(gzipSync(SHARD), { suffix: "gz" }))).length,
    3,
  );
  const bomb = zstdCompressSync(Buffer.alloc(64 << 20));
  await assertRefused(zipped(bomb), "bad-structure", /more than its/);
  for (const rawBytes of [SHARD.length - 1, SHARD.length + 1]) {
    await assertRefused(
      zipped(zstdCompressSync(SHARD), { rawBytes }),
      "bad-structure",
      /has (more than its )?\d+ bytes/,
    );
  }
  await assertRefused(
    zipped(zstdCompressSync(SHARD), { rawBytes: 2 ** 29 }),
    "absurd-count",
    /never become the 536870912/,
  );
  await assertRefused(
    zipped(Buffer.alloc(1 << 16), { rawBytes: 2 ** 31 }),
    "too-large",
    /up to 1073741824 are taken into memory/,
  );
  const damaged = zstdCompressSync(SHARD);
  damaged[0]! ^= 1;
  await assertRefused(
    zipped(damaged),
    "bad-structure",
    /can't be decompressed/,
  );
});

Deno.test("a compressed shard whose own checksum is wrong is an error, also where it is waited for", async () => {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  const summed = zstdCompressSync(SHARD, { params });
  assert.equal((await read(zipped(summed))).length, 3);
  summed[summed.length - 1]! ^= 1;
  const storage = zipped(summed);
  await assertRefused(storage, "bad-structure", /can't be decompressed/);
  using reader = await MDSReader.open("d", {
    storage: slowStorage(1, storage),
  });
  await assert.rejects(reader.read(0), { code: "bad-structure" });
});

Deno.test("other compressions are refused with the way out", async () => {
  await assertRefused(
    zipped(SHARD, { suffix: "bz2" }),
    "unsupported",
    /compressed by 'bz2'.*bunzip2 -k/,
  );
  await assertRefused(
    zipped(SHARD, { suffix: "snappy" }),
    "unsupported",
    /compressed by 'snappy'/,
  );
  const storage = new MemoryStorage({ "d/a.mds.zstd": new Uint8Array(SHARD) });
  await assert.rejects(open("d/a.mds.zstd", { storage }), {
    code: "unsupported",
    message: /name the directory of its index.json/,
  });
});
