/** Compressed shards of which some are damaged: checked as plain ones are, and named as they exist. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { check, open } from "../../mod.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { recordfs } from "../cli/run_cli.ts";
import { mixedBytes } from "../support/compress.ts";
import { withTempDir } from "../support/paths.ts";
import { tarBytes } from "../support/tar/make_tar.ts";

const COUNT = 4;
const text = new TextEncoder();

const tar = (shard: number) =>
  tarBytes([0, 1, 2].map((i) => ({
    name: `${shard}${i}.bin`,
    data: mixedBytes(3000, 10 * shard + i),
  })));

const lines = (shard: number) =>
  text.encode(
    [0, 1, 2].map((i) => {
      const a = mixedBytes(500, 10 * shard + i).toHex();
      return `${JSON.stringify({ a })}\n`;
    }).join(""),
  );

/** With checksums, without which zstd does not notice all damage. */
const zstd = (bytes: Uint8Array) =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });

const KINDS = {
  "tar.gz": [tar, gzipSync],
  "tar.zst": [tar, zstd],
  "jsonl.gz": [lines, gzipSync],
} as const;

type End = keyof typeof KINDS;

/** Makes shards below `archives/`. Those that are damaged have zeros in their middle. */
function shardsOf(
  end: End,
  damaged: readonly number[],
): Record<string, Uint8Array<ArrayBuffer>> {
  const [make, compress] = KINDS[end];
  return Object.fromEntries(
    Array.from({ length: COUNT }, (_, shard) => {
      const bytes = new Uint8Array(compress(make(shard)));
      const middle = bytes.length >> 1;
      if (damaged.includes(shard)) bytes.fill(0, middle, middle + 100);
      return [`archives/part-${shard}.${end}`, bytes];
    }),
  );
}

const locationsOf = (end: End) => [
  ...end === "jsonl.gz" ? [] : ["archives"],
  `archives/part-{0..${COUNT - 1}}.${end}`,
];

const QUIET = { onWarning() {} };

for (const end of ["tar.gz", "tar.zst", "jsonl.gz"] as const) {
  Deno.test(`.${end} shards: check reports each damaged one, and checks the others`, async () => {
    for (const damaged of [[], [2], [0, 3], [0, 1, 2, 3]]) {
      const storage = new MemoryStorage(shardsOf(end, damaged));
      for (const location of locationsOf(end)) {
        for (const values of [false, true]) {
          const options = { storage, values, ...QUIET };
          const report = await check(location, options);
          assert.deepEqual(
            report.damage?.map(({ path }) => path),
            damaged.map((shard) => `archives/part-${shard}.${end}`),
          );
          assert.equal(report.damaged, damaged.length);
          assert.equal(report.samples, 3 * (COUNT - damaged.length));
        }
      }
    }
  });

  Deno.test(`.${end} shards: info names the files that exist, sound and damaged ones`, async () => {
    const files = shardsOf(end, [1]);
    const storage = new MemoryStorage(files);
    const names = Object.keys(files);
    for (const location of locationsOf(end)) {
      using shown = await open(location, { storage, ...QUIET });
      const { parts, unreadable } = shown.info;
      assert.deepEqual(
        parts.map(({ path }) => path),
        names.filter((_, shard) => shard !== 1),
      );
      assert.deepEqual(unreadable?.map(({ archive }) => archive), [names[1]]);
    }
  });
}

Deno.test("a single compressed shard that is damaged cannot be checked, nor opened", async () => {
  const files = shardsOf("tar.gz", [0]);
  const storage = new MemoryStorage({
    "archives/part-0.tar.gz": files["archives/part-0.tar.gz"]!,
  });
  for (const location of ["archives", "archives/part-0.tar.gz"]) {
    for (const open_ of [check, open]) {
      await assert.rejects(
        async () => await open_(location, { storage, ...QUIET }),
        /Cannot decompress archives\/part-0\.tar\.gz/,
      );
    }
  }
});

Deno.test("recordfs check counts a damaged .tar.gz, exits with 1, and info lists the files", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/archives`);
    for (const [name, bytes] of Object.entries(shardsOf("tar.gz", [2]))) {
      fs.writeFileSync(`${dir}/${name}`, bytes);
    }
    const { code, stdout } = await recordfs(["check", `${dir}/archives`]);
    assert.equal(code, 1);
    const [damage, summary, ...rest] = stdout.trim().split("\n");
    const wrong = `damaged: Cannot decompress ${dir}/archives/part-2.tar.gz`;
    assert.ok(damage!.startsWith(wrong), damage);
    assert.match(summary!, /: 9 samples, \d+ bytes, 1 damaged$/);
    assert.deepEqual(rest, []);
    const info = await recordfs(["info", `${dir}/archives`, "--json"]);
    const { parts } = JSON.parse(info.stdout);
    assert.deepEqual(
      parts.map(({ path }: { path: string }) => path),
      [0, 1, 3].map((shard) => `${dir}/archives/part-${shard}.tar.gz`),
    );
  }));

Deno.test("compressed shards are opened by a pattern with -of-, in any format", async () => {
  const shards = Object.fromEntries(
    [0, 1].map((i) => [`p-0000${i}-of-00002.jsonl.gz`, gzipSync(lines(i))]),
  );
  const storage = new MemoryStorage(shards);
  using fs = await open("p-?????-of-00002.jsonl.gz", { storage });
  assert.equal(fs.info.format, "jsonl");
  assert.equal(fs.info.files, 6);
});
