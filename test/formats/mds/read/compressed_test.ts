/** Compressed shards: declared sizes, decompression bombs, and unsupported compressions. */
import { openMds } from "../../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import {
  datasetOf,
  entry,
  NAME,
  sampleOf,
  SHARD,
  shardOf,
} from "../../../support/mds/make_mds.ts";
import { assertRefused, read } from "../../../support/mds/refused.ts";
import { piped } from "../../../support/compress.ts";
import { needs } from "../../../support/programs/programs.ts";
import { LONG } from "../../../support/long.ts";
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

Deno.test("a compressed shard must have the declared size, and decompression bombs take no memory", async () => {
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
    /cannot decompress to the 536870912/,
  );
  await assertRefused(
    zipped(Buffer.alloc(1 << 16), { rawBytes: 2 ** 31 }),
    "too-large",
    /more than the limit of 1073741824/,
  );
  const damaged = zstdCompressSync(SHARD);
  damaged[0]! ^= 1;
  await assertRefused(
    zipped(damaged),
    "bad-structure",
    /can't be decompressed/,
  );
});

Deno.test("a compressed shard with a wrong checksum of its own is an error, also in asynchronous reads", async () => {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  const summed = zstdCompressSync(SHARD, { params });
  assert.equal((await read(zipped(summed))).length, 3);
  summed[summed.length - 1]! ^= 1;
  const storage = zipped(summed);
  await assertRefused(storage, "bad-structure", /can't be decompressed/);
  using reader = await openMds("d", {
    storage: slowStorage(1, storage),
  });
  await assert.rejects(reader.read(0), { code: "bad-structure" });
});

/** Encodes raw Snappy literals (format_description.txt): the size, and up to 60 bytes after each tag. */
function snappy(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  let size = bytes.length;
  for (; size >= 0x80; size >>>= 7) out.push(size & 0x7f | 0x80);
  out.push(size);
  for (let at = 0; at < bytes.length; at += 60) {
    const part = bytes.subarray(at, at + 60);
    out.push(part.length - 1 << 2, ...part);
  }
  return Uint8Array.from(out);
}

Deno.test("reads shards of raw Snappy, as Streaming writes them", async () => {
  const right = zipped(snappy(SHARD), { suffix: "snappy" });
  const plain = await read(
    datasetOf([entry({}, SHARD.length)], { [NAME]: SHARD }),
  );
  assert.deepEqual(await read(right), plain);
  const bad = snappy(SHARD);
  for (
    const [data, words] of [
      [bad.subarray(0, bad.length - 3), /can't be decompressed|has \d+ bytes/],
      [snappy(SHARD.subarray(1)), /has \d+ bytes, not/],
    ] as const
  ) {
    await assertRefused(
      zipped(data, { suffix: "snappy" }),
      "bad-structure",
      words,
    );
  }
  // It declares 64 KiB for 8 bytes.
  const bomb = Uint8Array.of(0x80, 0x80, 0x04, 0xfe, 0x01, 0x00, 0xfe, 0x01);
  await assertRefused(
    zipped(bomb, { suffix: "snappy", rawBytes: 1 << 16 }),
    "bad-structure",
    /8 bytes, which cannot decompress to 65536/,
  );
});

Deno.test({
  name: "reads shards of bzip2, as Streaming writes them",
  ...needs("bzip2"),
  fn: async () => {
    const packed = await piped(SHARD, "bzip2", "-c");
    const plain = datasetOf([entry({}, SHARD.length)], { [NAME]: SHARD });
    assert.deepEqual(
      await read(zipped(packed, { suffix: "bz2" })),
      await read(plain),
    );
    for (const rawBytes of [SHARD.length - 1, SHARD.length + 1]) {
      await assertRefused(
        zipped(packed, { suffix: "bz2", rawBytes }),
        "bad-structure",
        /can't be decompressed .*(more than|ends too early)/,
      );
    }
  },
});

/** Shard larger than what is decompressed at once: its samples are zeros, except for the last. */
const LARGE = shardOf([
  sampleOf(1, "a".repeat(1000)),
  new Uint8Array(140 << 20),
  sampleOf(3, "end"),
]);

Deno.test("decompresses a large shard piece by piece, in any direction", async () => {
  for (
    const [suffix, data] of [
      ["zstd", zstdCompressSync(LARGE)],
      ["gz", gzipSync(LARGE, { level: 1 })],
    ] as const
  ) {
    const storage = zipped(data, { suffix, rawBytes: LARGE.length });
    using reader = await openMds("d", { storage });
    for (const sample of [2, 0, 2]) {
      const [read] = await reader.get([sample]);
      assert.deepEqual(
        { ...read },
        sample === 2 ? { n: 3, t: "end" } : { n: 1, t: "a".repeat(1000) },
      );
    }
    const short = zipped(data, { suffix, rawBytes: LARGE.length - 1 });
    using cut = await openMds("d", { storage: short });
    await assert.rejects(cut.get([0]), { code: "bad-offsets" });
  }
});

Deno.test("checks a shard of some KB that becomes up to 1 GiB in little memory", async () => {
  const size = LONG ? 1 << 30 : 1 << 29;
  const bomb = zstdCompressSync(Buffer.alloc(size));
  const directory = await Deno.makeTempDir();
  try {
    const index = {
      version: 2,
      shards: [{
        ...entry({}, size),
        compression: "zstd",
        "zip_data": {
          basename: `${NAME}.zstd`,
          bytes: bomb.length,
          hashes: {},
        },
      }],
    };
    await Deno.writeTextFile(`${directory}/index.json`, JSON.stringify(index));
    await Deno.writeFile(`${directory}/${NAME}.zstd`, bomb);
    const script = `
        import { check } from "${new URL(
      "../../../../mod.ts",
      import.meta.url,
    )}";
        const damages = [];
        await check(Deno.args[0], { onDamage: ({ code }) => damages.push(code) });
        const [, peak] = /VmHWM:\\s+(\\d+) kB/.exec(Deno.readTextFileSync("/proc/self/status"));
        console.log(JSON.stringify({ damages, peak: Number(peak) }));`;
    const command = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-lock", script, directory],
      stderr: "inherit",
    });
    const { stdout } = await command.output();
    const { damages, peak } = JSON.parse(new TextDecoder().decode(stdout));
    assert.deepEqual(damages, ["bad-structure"]);
    assert.ok(peak < 500_000, `${peak} kB`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("other compressions are rejected with a hint", async () => {
  await assertRefused(
    zipped(SHARD, { suffix: "lz4" }),
    "unsupported",
    /compression 'lz4' is unsupported: only .* are read\. Decompress all/,
  );
  const storage = new MemoryStorage({ "d/a.mds.zstd": new Uint8Array(SHARD) });
  await assert.rejects(open("d/a.mds.zstd", { storage }), {
    code: "unsupported",
    message: /Name the directory of its index.json/,
  });
});
