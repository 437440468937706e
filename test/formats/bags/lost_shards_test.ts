/** Shards that are skipped because their number of datapoints is unknown. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../../src/open/data/mod.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { BagDataset } from "../../../src/formats/bags/data/bag_dataset.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import type { Samples } from "../../../src/tree/samples/samples.ts";
import {
  type Generation,
  ShardedDatasetReader,
} from "../../../src/formats/bags/mod.ts";
import { openDeferred } from "../../../src/formats/bags/tree/begin_container.ts";
import { check, open } from "../../../src/open/open.ts";
import { convert } from "../../../src/open/convert/convert.ts";
import { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { reopened } from "../../support/bags/bag_trees.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { withTempDir } from "../../support/paths.ts";

/** Functions that damage a shard, by title; they return false if a generation is not damaged by that. */
const DAMAGES: Readonly<
  Record<string, (shard: string, generation: Generation) => boolean>
> = {
  "no spec.json"(shard) {
    fs.rmSync(`${shard}/spec.json`);
    return true;
  },
  "a cut spec.json"(shard) {
    fs.truncateSync(`${shard}/spec.json`, 5);
    return true;
  },
  "nothing in it"(shard) {
    for (const name of fs.readdirSync(shard)) fs.rmSync(`${shard}/${name}`);
    return true;
  },
  "cut references"(shard, generation) {
    if (generation === 3) return false;
    fs.truncateSync(`${shard}/refs.bag`, 7);
    return true;
  },
  "references without a byte"(shard, generation) {
    if (generation === 3) return false;
    fs.truncateSync(`${shard}/refs.bag`, 0);
    return true;
  },
  "all bags missing"(shard, generation) {
    for (const key of ["a", "b"]) fs.rmSync(`${shard}/${key}.bag`);
    return generation !== 3;
  },
  "all bags cut"(shard, generation) {
    for (const key of ["a", "b"]) fs.truncateSync(`${shard}/${key}.bag`, 5);
    return generation !== 3; // not a structural damage in generation 3
  },
  "all indexes missing, and a bag without bytes"(shard, generation) {
    if (generation !== 3) return false;
    for (const key of ["a", "b"]) fs.rmSync(`${shard}/${key}.idx`);
    fs.truncateSync(`${shard}/b.bag`, 0);
    return true;
  },
};

const bytes = (...values: number[]) => Uint8Array.from(values);
const datapoint = (n: number) => ({ a: bytes(n, n), b: bytes(100 + n) });

/** Writes shards of 2, 3 and 4 datapoints. */
function writeShards(dir: string, generation: Generation): void {
  const numbers = [[0, 1], [2, 3, 4], [5, 6, 7, 8]];
  for (const [shard, own] of numbers.entries()) {
    const spec = { a: "bytes", b: "bytes" };
    const datapoints = own.map(datapoint);
    writeDataset(`${dir}/00000${shard}`, spec, datapoints, generation);
  }
}

/** Runs a test with every damage of the first and of the second shard, in all generations. */
function forEach(
  title: string,
  body: (dir: string, lost: 0 | 1, generation: Generation) => Promise<void>,
): void {
  for (const [damage, doDamage] of Object.entries(DAMAGES)) {
    Deno.test(`a shard with ${damage}: ${title}`, async () => {
      let count = 0;
      for (const generation of [1, 2, 3] as const) {
        for (const lost of [0, 1] as const) {
          await withTempDir(async (dir) => {
            writeShards(dir, generation);
            if (!doDamage(`${dir}/00000${lost}`, generation)) return;
            count++;
            await body(dir, lost, generation);
          });
        }
      }
      assert.ok(count > 0);
    });
  }
}

const SOUND = { 0: [2, 3, 4, 5, 6, 7, 8], 1: [0, 1, 5, 6, 7, 8] };
const quiet = { onWarning() {} };

forEach(
  "the others are read, and their indices shift",
  async (dir, lost) => {
    const isSaid = (warnings: readonly string[]) => {
      assert.equal(warnings.length, 1, warnings.join("\n"));
      assert.ok(warnings[0]!.includes(`${dir}/00000${lost}`), warnings[0]);
      assert.match(
        warnings[0]!,
        /skipped, and samples of later ones have other/,
      );
    };
    const expected = SOUND[lost].map(datapoint);
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    using reader = await ShardedDatasetReader.open(dir, { onWarning });
    isSaid(warnings.splice(0));
    assert.deepEqual([reader.shards, reader.length], [2, expected.length]);
    const indices = expected.map((_, i) => i);
    assert.deepEqual(await reader.read(indices), expected);
    assert.deepEqual(indices.map((i) => reader.getSync(i)), expected);

    using container = await open(dir, { onWarning });
    isSaid(warnings.splice(0));
    const { facts, unreadable } = container.info;
    assert.deepEqual(unreadable!.map(({ archive }) => archive), [
      `${dir}/00000${lost}`,
    ]);
    assert.deepEqual([facts!["datapoints"], facts!["shards"]], [
      expected.length,
      2,
    ]);

    const damages: FormatError[] = [];
    const onDamage = (damage: FormatError) => void damages.push(damage);
    const report = await check(dir, { onDamage, ...quiet });
    assert.deepEqual([report.samples, report.damaged], [expected.length, 1]);

    await withTempDir(async (to) => {
      const options = { to: "bags", ...quiet } as const;
      const target = `${to}/data`;
      await assert.rejects(convert(dir, target, options), {
        code: "would-lose",
      });
      await convert(dir, target, { ...options, lossy: true });
      using made = ShardedDatasetReader.openSync(target);
      assert.deepEqual(await made.read(indices), expected);
    });
  },
);

forEach(
  "other threads skip it, and detect if different shards are damaged",
  async (dir, lost) => {
    const dataset = await BagDataset.open(dir, quiet);
    using _dataset = dataset;
    const lengths = [2, 3, 4];
    lengths[lost] = 0;
    assert.deepEqual(dataset.shardLengths, lengths);
    await using loader = new DataLoader(dataset as Dataset<unknown>, {
      batchSize: 2,
      numWorkers: lost, // 0 and 1 workers
      collate: false,
    });
    const read: unknown[] = [];
    for await (const batch of loader) read.push(...batch as unknown[]);
    assert.deepEqual(read, SOUND[lost].map(datapoint));

    using half = await BagDataset.open(dir, { shardStart: lost, ...quiet });
    assert.equal(half.shardLengths[0], 0);
    const { module, data } = structuredClone(
      ShardedDatasetReader.openSync(dir, quiet).opened.share(),
    );
    const { reopenSamples } = await import(module);
    const again = () => runSync<Samples>(reopenSamples(data, LOCAL_DISK));
    again().close();
    fs.rmSync(`${dir}/000002/spec.json`);
    assert.throws(again, { code: "changed" });
  },
);

forEach(
  "trees do not list it, before and after everything is opened",
  async (dir, lost) => {
    const names = ["000000", "000001", "000002"];
    names.splice(lost, 1);
    const warnings: string[] = [];
    const served = await openDeferred(dir, {
      onWarning: (message) => void warnings.push(message),
    });
    using thread = new VirtualFs(
      dir,
      { tree: reopened(served.tree), info: served.info },
      true,
    );
    const files = names.flatMap((name) => [`${name}/spec.json`]);
    for (const file of files) thread.readSync(file);
    // The first result of any thread applies to all others.
    assert.throws(
      () => thread.listSync(`00000${lost}`),
      (error: Error) =>
        error instanceof FormatError ||
        (error as { code?: unknown }).code === "not-found",
    );
    assert.deepEqual(thread.listSync(), names);
    await served.complete();
    assert.equal(warnings.length, 1);
    assert.equal(served.info.facts!["unreadable"], 1);
    using all = new VirtualFs(dir, served, true);
    for (const tree of [all, thread]) {
      assert.deepEqual(tree.listSync(), names);
      assert.ok(tree.statSync("").mtime.getTime() > 0);
      assert.throws(() => tree.listSync(`00000${lost}`), { code: "not-found" });
      const walked = [...tree.walkSync("")];
      assert.equal(walked.length + 1, served.tree.nodeCount);
      for (const { path, isFile } of walked) {
        if (isFile) tree.readSync(path);
      }
      const found = walked.filter(({ path }) => path.endsWith("/b"))
        .map(({ path }) => tree.readSync(path)[0]! - 100);
      assert.deepEqual(found, SOUND[lost]);
      assert.equal(
        tree.info.files,
        walked.filter(({ isFile }) => isFile).length,
      );
    }
  },
);

Deno.test("a shard that is repaired while it is skipped counts as changed", async () => {
  await withTempDir(async (dir) => {
    writeShards(dir, 3);
    fs.renameSync(`${dir}/000001/spec.json`, `${dir}/spec`);
    const spec = fs.readFileSync(`${dir}/spec`);
    fs.rmSync(`${dir}/spec`);
    const served = await openDeferred(dir, quiet);
    using thread = new VirtualFs(dir, served, true);
    const node = served.tree.lookup(
      1,
      new TextEncoder().encode("000001"),
      0,
      6,
    );
    assert.ok(node > 0); // the shard has not been opened yet
    assert.throws(() => served.tree.isDirectory(node), {
      code: "missing-spec",
    });
    fs.writeFileSync(`${dir}/000001/spec.json`, spec);
    assert.throws(() => served.tree.isDirectory(node), { code: "changed" });
    assert.deepEqual(thread.listSync(), ["000000", "000002"]);
    await assert.rejects(served.complete(), { code: "changed" });
  });
});

Deno.test("a shard whose bags are pointers of Git LFS is rejected, since it is not damaged", async () => {
  await withTempDir(async (dir) => {
    writeShards(dir, 2);
    fs.writeFileSync(
      `${dir}/000001/a.bag`,
      `version https://git-lfs.github.com/spec/v1\noid sha256:${
        "0".repeat(64)
      }\nsize 5\n`,
    );
    const refused = { code: "git-lfs-pointer" };
    await assert.rejects(ShardedDatasetReader.open(dir), refused);
    await assert.rejects(open(dir), refused);
  });
});
