/** Which files are of Bagz and which of Bags; damaged, cut and hostile ones; orders of shards. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { check, open, openSamples } from "../../../mod.ts";
import { writeBag, writeDataset } from "../../support/bags/make_bag.ts";
import { bagzBytes, bagzParts } from "../../support/bagz/make_bagz.ts";
import { withTempDir } from "../../support/paths.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const RECORDS = ["first", "", "the third", "x".repeat(500)].map(utf8);

async function formatOf(path: string): Promise<string> {
  using container = await open(path, { onWarning() {} });
  return container.info.format;
}

async function recordsIn(path: string, format?: string): Promise<unknown[]> {
  using samples = await openSamples(path, { format, onWarning() {} });
  const read = await samples.read(Array(samples.length).keys());
  return read.map(({ content }) => content);
}

Deno.test("a .bag is of Bags, unless its limits are next to it or it is numbered in a directory of such", () =>
  withTempDir(async (dir) => {
    const { stored, limits } = bagzParts(RECORDS, false);
    for (const generation of [1, 2, 3] as const) {
      const records = RECORDS.filter(({ length }) => length > 0);
      const bag = `${dir}/g${generation}.bag`;
      writeBag(bag, records, generation);
      assert.equal(await formatOf(bag), "bags");
    }
    await assert.rejects(formatOf(dir), { message: /spec\.json is missing/ });
    fs.mkdirSync(`${dir}/apart`);
    fs.writeFileSync(`${dir}/apart/x.bag`, stored);
    fs.writeFileSync(`${dir}/apart/limits.x.bag`, limits);
    assert.equal(await formatOf(`${dir}/apart/x.bag`), "bagz");
    assert.equal(await formatOf(`${dir}/apart`), "bagz");
    assert.deepEqual(await recordsIn(`${dir}/apart/x.bag`), RECORDS);
    fs.mkdirSync(`${dir}/shards`);
    for (const i of [0, 1]) {
      const name = `x-0000${i}-of-00002.bag`;
      fs.writeFileSync(`${dir}/shards/${name}`, bagzBytes(RECORDS, false));
    }
    assert.equal(await formatOf(`${dir}/shards`), "bagz");
    writeDataset(`${dir}/data`, { n: "bytes" }, [{ n: RECORDS[0]! }], 3);
    assert.equal(await formatOf(`${dir}/data`), "bags");
  }));

Deno.test("a .bag of Bagz with limits at its tail is a bag of generation 2, record by record", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/x.bag`;
    fs.writeFileSync(path, bagzBytes(RECORDS, false));
    assert.equal(await formatOf(path), "bags");
    assert.deepEqual(await recordsIn(path), RECORDS);
    assert.deepEqual(await recordsIn(path, "bagz"), RECORDS);
    // Only an empty first record makes a difference: Bags takes its limit for the start of another.
    fs.writeFileSync(path, bagzBytes([utf8(""), ...RECORDS], false));
    assert.deepEqual(await recordsIn(path), RECORDS);
    assert.deepEqual(await recordsIn(path, "bagz"), [utf8(""), ...RECORDS]);
  }));

Deno.test("any records are read, compressed or not, from one file or several, in either order", () =>
  withTempDir(async (dir) => {
    const records = fc.array(fc.uint8Array({ maxLength: 300 }), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (records, count, isCompressed) => {
          const place = fs.mkdtempSync(`${dir}/`);
          const suffix = isCompressed ? "bagz" : "bag";
          for (let i = 0; i < count; i++) {
            const own = records.filter((_, k) => k % count === i);
            fs.writeFileSync(
              `${place}/x-0000${i}-of-0000${count}.${suffix}`,
              bagzBytes(own, isCompressed),
            );
          }
          const byTurns = await recordsIn(
            `${place}/x@${count}.${suffix}`,
            "bagz-interleaved",
          );
          assert.deepEqual(byTurns, records);
          const inOrder = records.map((_, k) => k)
            .sort((a, b) => a % count - b % count || a - b);
          assert.deepEqual(
            await recordsIn(`${place}/x@*.${suffix}`),
            inOrder.map((k) => records[k]),
          );
          using tree = await open(place, { format: "bagz-interleaved" });
          const files = await Array.fromAsync(tree.walk("", {}));
          const read = await tree.read(files.map(({ path }) => path));
          assert.deepEqual(read, records);
        },
      ),
      { numRuns: 30 },
    );
  }));

Deno.test("shards that cannot have been written by turns are refused in that order", () =>
  withTempDir(async (dir) => {
    for (const [i, count] of [2, 4].entries()) {
      fs.writeFileSync(
        `${dir}/x-0000${i}-of-00002.bagz`,
        bagzBytes(RECORDS.slice(0, count)),
      );
    }
    await assert.rejects(open(dir, { format: "bagz-interleaved" }), {
      code: "bad-structure",
      message: /have 2, 4 samples, and should have as many/,
    });
    assert.equal((await recordsIn(dir)).length, 6);
  }));

Deno.test("records that are no frames, tell no size or an impossible one are errors of their own", () =>
  withTempDir(async (dir) => {
    const sizeless = new Uint8Array(zstdCompressSync(RECORDS[3]!));
    const huge = Uint8Array.fromHex("28b52ffde0ffffffffffffffff010000");
    const large = Uint8Array.fromHex("28b52ffda000000040010000");
    const bad = [utf8("no frame at all"), sizeless, huge, large, utf8("(")];
    const sound = new Uint8Array(bagzParts([RECORDS[2]!]).stored);
    fs.writeFileSync(`${dir}/x.bagz`, bagzBytes([...bad, sound], false));
    using samples = await openSamples(`${dir}/x.bagz`);
    for (const [i] of bad.entries()) {
      await assert.rejects(samples.read(i), (error) => {
        const { code, sample } = error as { code: string; sample: number };
        assert.equal(code, i === 1 ? "unsupported" : "bad-structure");
        assert.equal(sample, i);
        return true;
      });
    }
    assert.deepEqual(await samples.read(5), { content: RECORDS[2] });
    using tree = await open(`${dir}/x.bagz`);
    await assert.rejects(tree.stat("000000"), { code: "bad-structure" });
    assert.equal((await tree.stat("000005")).size, RECORDS[2]!.length);
    const { damage } = await check(`${dir}/x.bagz`);
    assert.equal(damage!.length, bad.length);
  }));

Deno.test("limits that are cut, descend or go past the records are errors", () =>
  withTempDir(async (dir) => {
    const { stored, limits } = bagzParts(RECORDS);
    const path = `${dir}/x.bagz`;
    fs.writeFileSync(path, stored);
    fs.writeFileSync(`${dir}/limits.x.bagz`, limits.subarray(0, 20));
    assert.deepEqual(await recordsIn(path), RECORDS.slice(0, 2));
    const { damage } = await check(path, { onWarning() {} });
    assert.match(damage![0]!.message, /the 2 limits .* of 20 bytes, end at/);
    const wrong = Uint8Array.from(limits);
    wrong[8] = 255;
    wrong[9] = 255;
    fs.writeFileSync(`${dir}/limits.x.bagz`, wrong);
    using samples = await openSamples(path, { onWarning() {} });
    assert.deepEqual(await samples.read(0), { content: RECORDS[0] });
    await assert.rejects(samples.read([1]), { code: "bad-index" });
    await assert.rejects(samples.read([2]), { code: "bad-index" });
    fs.rmSync(`${dir}/limits.x.bagz`);
    await assert.rejects(open(path), {
      code: "truncated",
      message: /need .*limits\.x\.bagz/,
    });
  }));
