/** Conversions of selected samples: what is converted, and what is lost. */
import assert from "node:assert/strict";
import { convert } from "../../src/open/convert/convert.ts";
import { check, open } from "../../src/open/open.ts";
import { IndexError, RecordfsError } from "../../src/base/errors.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { writeChunk } from "../support/gulp/make_gulp.ts";
import { writeDamaged } from "../support/mds/damaged_dataset.ts";
import { withTempDir } from "../support/paths.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { CONTAINERS, numbersIn } from "../support/ten_samples.ts";

const text = (value: string) => new TextEncoder().encode(value);
const [a, b, c] = JPEGS as [Uint8Array, Uint8Array, Uint8Array];

async function namesIn(dir: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(dir))).map(({ name }) => name);
}

async function filesIn(path: string): Promise<string[]> {
  using fs = await open(path);
  const paths: string[] = [];
  for await (const { path, isFile } of fs.walk()) if (isFile) paths.push(path);
  return paths;
}

Deno.test("indices in any order are converted once, in ascending order; invalid ones are rejected", () =>
  withTempDir(async (dir) => {
    CONTAINERS["columns"]!(`${dir}/columns`);
    const source = `${dir}/columns`;
    const { plan, count } = await convert(source, `${dir}/points`, {
      to: "bags",
      subset: new Set([7, 2, 9]),
    });
    assert.deepEqual(plan.subset, { samples: 3, of: 10 });
    assert.equal(count, 3);
    assert.deepEqual(await numbersIn(`${dir}/points`), [2, 7, 9]);
    const again = await convert(source, `${dir}/again`, {
      to: "mds",
      subset: [5, 5, 3],
    });
    assert.equal(again.count, 2);
    assert.deepEqual(await numbersIn(`${dir}/again`), [3, 5]);
    for (const wrong of [10, -1, 1.5, NaN]) {
      await assert.rejects(
        convert(source, `${dir}/none`, { to: "mds", subset: [0, wrong] }),
        (error) =>
          error instanceof IndexError &&
          error.message.includes(`Cannot read sample ${wrong} of ${source}`),
      );
    }
    assert.ok(
      !(await namesIn(dir)).includes("none"),
    );
    await assert.rejects(
      check(source, { subset: [10], onDamage() {} }),
      IndexError,
    );
  }));

Deno.test("shards of a sharded dataset without chosen datapoints are not written", () =>
  withTempDir(async (dir) => {
    CONTAINERS["shards"]!(`${dir}/shards`);
    for (const generation of [1, 2, 3] as const) {
      const target = `${dir}/${generation}`;
      const subset = [5, 6, 9];
      const options = { to: "bags", generation, subset };
      await convert(`${dir}/shards`, target, options);
      assert.deepEqual(await numbersIn(target), subset);
      assert.deepEqual(await namesIn(target), ["000000"]);
    }
    const none = { to: "bags", subset: [] };
    const { count } = await convert(`${dir}/shards`, `${dir}/none`, none);
    assert.equal(count, 0);
  }));

Deno.test("empty values are a loss only of the datapoints that are converted", () =>
  withTempDir(async (dir) => {
    const points = ["a", "", "c", ""].map((v) => ({ v: text(v) }));
    writeDataset(`${dir}/points`, { v: "jpg" }, points, 3);
    const into = (target: string, subset: number[]) =>
      convert(`${dir}/points`, `${dir}/${target}`, {
        to: "bags",
        generation: 2,
        subset,
      });
    const { plan, count } = await into("two", [0, 2]);
    assert.deepEqual([plan.lost, count], [[], 2]);
    await assert.rejects(into("three", [0, 2, 3]), /'v' \(1 values\)/);
  }));

Deno.test("fields that only other samples have are not a loss", () =>
  withTempDir(async (dir) => {
    const source = `${dir}/web.tar`;
    await Deno.writeFile(
      source,
      tarBytes([
        { name: "0.txt", data: "zero" },
        { name: "0.jpg", data: a },
        { name: "1.txt", data: "one" },
        { name: "2.txt", data: "two" },
        { name: "2.jpg", data: b },
      ]),
    );
    const into = (target: string, subset: number[]) =>
      convert(source, `${dir}/${target}`, { to: "mds", subset });
    assert.deepEqual((await into("both", [0, 2])).plan.lost, []);
    assert.deepEqual((await into("texts", [1])).plan.lost, []);
    assert.deepEqual(await filesIn(`${dir}/texts`), [
      "000000/__key__.txt",
      "000000/txt.txt",
    ]);
    await assert.rejects(into("mixed", [0, 1]), /'jpg'/);
  }));

Deno.test("videos keep their ids, and datapoints their indices as ids", () =>
  withTempDir(async (dir) => {
    writeChunk(`${dir}/gulp`, 0, [
      { id: "v", frames: [a, b] },
      { id: "w", frames: [c] },
    ]);
    writeChunk(`${dir}/gulp`, 1, [
      { id: "x", frames: [a] },
      { id: "y", frames: [b] },
    ]);
    const to = (target: string, subset: number[], options = {}) =>
      convert(`${dir}/gulp`, `${dir}/${target}`, { subset, ...options });
    await to("again", [1, 3], { to: "gulp" });
    assert.deepEqual(await filesIn(`${dir}/again`), [
      "w/frame_0001.jpg",
      "w/meta.json",
      "y/frame_0001.jpg",
      "y/meta.json",
    ]);
    await to("lists", [0, 2], { to: "bags", generation: 2 });
    using lists = await open(`${dir}/lists`);
    assert.deepEqual(
      await lists.read(["000000/id", "000001/id"]),
      [text("v"), text("x")],
    );
    const frames = [[a], [b], [c]].map((frames) => ({ frames }));
    writeDataset(`${dir}/points`, { frames: "jpg[]" }, frames, 2);
    const subset = [0, 2];
    await convert(`${dir}/points`, `${dir}/videos`, { to: "gulp", subset });
    assert.deepEqual(
      (await filesIn(`${dir}/videos`)).filter((path) => path.endsWith("jpg")),
      ["0/frame_0001.jpg", "2/frame_0001.jpg"],
    );
  }));

Deno.test("a damaged video counts as lost or damaged if it is chosen", () =>
  withTempDir(async (dir) => {
    const gulp = `${dir}/gulp`;
    const meta = writeChunk(gulp, 0, [
      { id: "v", frames: [a] },
      { id: "w", frames: [b] },
      { id: "x", frames: [c] },
    ]);
    meta["w"]!.frame_info = [[1 << 30, 0, 100]];
    await Deno.writeTextFile(`${gulp}/meta_0.gmeta`, JSON.stringify(meta));
    const quiet = { onWarning() {} };
    const into = (target: string, subset: number[], lossy = false) =>
      convert(gulp, `${dir}/${target}`, {
        to: "bags",
        generation: 2,
        lossy,
        subset,
        ...quiet,
      });
    assert.equal((await into("sound", [0, 2])).count, 2);
    await assert.rejects(into("bad", [1, 2]), /videos that cannot be read \(1/);
    const { count, plan } = await into("lossy", [1, 2], true);
    assert.deepEqual([count, plan.subset], [1, { samples: 2, of: 3 }]);
    const damage: RecordfsError[] = [];
    const checking = (subset: number[]) =>
      check(gulp, { subset, onDamage: (one) => damage.push(one), ...quiet });
    assert.equal((await checking([0, 2])).damaged, 0);
    assert.equal((await checking([0, 1])).damaged, 1);
    assert.equal(damage[0]!.sample, 1);
  }));

Deno.test("a damaged shard of MDS matters only to its own samples", () =>
  withTempDir(async (dir) => {
    const source = `${dir}/columns`;
    await Deno.mkdir(source);
    writeDamaged(source); // lacks samples 3 to 5, and 8
    const quiet = { onWarning() {}, onDamage() {} };
    for (
      const [i, subset, damaged] of [
        [0, [0, 2, 6, 7], 0],
        [1, [2, 4, 8], 2],
      ] as const
    ) {
      const report = await check(source, { subset, ...quiet });
      const { samples, of, damaged: found } = report;
      assert.deepEqual([samples, of], [subset.length, 9]);
      assert.equal(found > 0, damaged > 0);
      const target = `${dir}/${i}`;
      const options = { to: "mds", subset, ...quiet };
      if (damaged > 0) {
        await assert.rejects(convert(source, target, options), RecordfsError);
      }
      const lossy = damaged > 0;
      const { count, leftOut } = await convert(source, target, {
        ...options,
        lossy,
      });
      assert.deepEqual([count, leftOut], [subset.length - damaged, damaged]);
    }
  }));

Deno.test("broken links are a loss only in directories of converted files", () =>
  withTempDir(async (dir) => {
    const source = `${dir}/files.tar`;
    await Deno.writeFile(
      source,
      tarBytes([
        { name: "a/one.dat", data: "1" },
        { name: "b/two.dat", data: "2" },
        { name: "b/nowhere", type: "2", link: "none" },
      ]),
    );
    const into = (subset: number[]) =>
      convert(source, `${dir}/${subset}.zip`, { subset, onWarning() {} });
    await assert.rejects(into([1]), /links that lead to a directory/);
    const { plan } = await convert(source, `${dir}/0.ffr`, { subset: [0] });
    assert.equal(plan.lost.length, 0);
    assert.deepEqual(await filesIn(`${dir}/0.ffr`), ["a/one.dat"]);
  }));
