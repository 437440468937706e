/** Databases on servers: how often they are asked, and for how much. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { open } from "../../../../src/open/open.ts";
import { lmdbBytes } from "../../../support/lmdb/make_lmdb.ts";
import { lmdbCases } from "../../../support/lmdb/lmdb_golden.ts";
import { asked, serving } from "../../../support/remote/serving.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

const LARGE = "large ".repeat(2000);
const keyOf = (i: number) => `${i}`.padStart(6, "0");

/** Writes values on overflow pages, with the leaves of their keys here and there between them. */
const WRITER = `
import lmdb, sys
with lmdb.open(sys.argv[1], subdir=False, map_size=1 << 30) as env:
    with env.begin(write=True) as txn:
        for i in range(int(sys.argv[2])):
            txn.put(b"%06d" % i, bytes([i % 251]) * 20_000)
`;
const KEYS_IN_LEAF = 100;

function writeLarge(path: string, count: number): Promise<unknown> {
  return pythonLines(WRITER, "", { args: [path, `${count}`] });
}

Deno.test({
  name:
    "opening asks for the pages of keys, and reading for what is read (needs lmdb)",
  ...needs("lmdb"),
  fn: () =>
    serving(async (served) => {
      const { dir, server, remote } = served;
      await writeLarge(`${dir}/a.lmdb`, 2000);
      const { size } = fs.statSync(`${dir}/a.lmdb`);
      const url = `${server.url}/a.lmdb`;
      {
        using container = await open(url, { remote });
        assert.equal(container.info.files, 2000);
        const { count, bytes } = asked(served);
        assert.ok(count <= 4 + 2000 / KEYS_IN_LEAF, `${count} requests`);
        assert.ok(bytes < size / 20, `${bytes} of ${size} bytes`);
      }
      server.asked.length = 0;
      using samples = await openSamples(url, { remote });
      const wanted = [1999, 3, 1000, 4];
      const read = await samples.read(wanted);
      for (const [i, { content }] of read.entries()) {
        const expected = new Uint8Array(20_000).fill(wanted[i]! % 251);
        assert.deepEqual(content, expected);
      }
      assert.ok(server.asked.length <= 2 * wanted.length);
      server.asked.length = 0;
      await samples.read(wanted);
      assert.equal(server.asked.length, 0);
      assert.ok(samples.prefetch([500]) >= 20_000);
    }),
});

Deno.test("100,000 keys are fetched by few requests", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const entries = Array.from(
      { length: 100_000 },
      (_, i): [string, string] => [keyOf(i), `value ${i}`],
    );
    const bytes = lmdbBytes(entries, 4096);
    fs.writeFileSync(`${dir}/a.lmdb`, bytes);
    using container = await open(`${server.url}/a.lmdb`, { remote });
    assert.equal(container.info.files, 100_000);
    const { count, bytes: read } = asked(served);
    assert.ok(count <= 2 + bytes.length / (256 << 10), `${count} requests`);
    assert.ok(read <= bytes.length + (1 << 20));
    const text = new TextDecoder().decode(await container.read(keyOf(77_777)));
    assert.equal(text, "value 77777");
  }));

Deno.test("a database that is replaced on its server is told", () =>
  serving(async ({ dir, server, remote }) => {
    const write = (count: number) =>
      fs.writeFileSync(
        `${dir}/a.lmdb`,
        lmdbBytes(Array.from({ length: count }, (_, i) => [keyOf(i), LARGE])),
      );
    write(200);
    const url = `${server.url}/a.lmdb`;
    using container = await open(url, { remote });
    write(201);
    await assert.rejects(container.read(keyOf(150)), { code: "changed" });
    using again = await open(url, { remote });
    assert.equal(again.info.files, 201);
  }));

Deno.test("far away, databases are as on the disk, in any order of answers", async () => {
  for (const { path, content: { entries } } of lmdbCases()) {
    const storage = slowStorage(entries.length);
    using far = await openSamples(path, { storage });
    using near = await openSamples(path);
    const indices = entries.map((_, i) => i);
    assert.deepEqual(await far.read(indices), await near.read(indices));
    assert.deepEqual(
      indices.map((i) => far.keyOf(i)),
      indices.map((i) => near.keyOf(i)),
    );
  }
});
