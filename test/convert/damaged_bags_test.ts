/** Conversions of damaged bags skip unreadable data if the caller agrees, and otherwise leave nothing behind. */
import assert from "node:assert/strict";
import { convert } from "../../src/open/convert/convert.ts";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import { bagCases, datasetCases } from "../support/bags/bag_golden.ts";
import {
  BagReader,
  type Datapoint,
  DatasetReader,
  ShardedDatasetReader,
} from "../../src/formats/bags/mod.ts";
import { namesIn } from "../support/converted.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { withTempDir } from "../support/paths.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Asserts that a dataset becomes one of its readable datapoints. */
async function assertLeftOut(source: string, target: string): Promise<void> {
  using before = DatasetReader.openSync(source, { decoders: null });
  const sound: Datapoint[] = [];
  for (let i = 0; i < before.length; i++) {
    try {
      sound.push(before.getSync(i));
    } catch (error) {
      assert.ok(error instanceof FormatError);
    }
  }
  const { generation } = before;
  const warnings: string[] = [];
  const report = await convert(source, target, {
    to: "bags",
    generation,
    lossy: true,
    onWarning: (line) => warnings.push(line),
  });
  const leftOut = before.length - sound.length;
  assert.ok(leftOut > 0);
  assert.deepEqual([report.count, report.leftOut], [sound.length, leftOut]);
  assert.match(warnings.join("\n"), /skipped: datapoint \d+ of .*reference/);
  using after = DatasetReader.openSync(target, { decoders: null });
  assert.deepEqual(await after.read(sound.keys()), sound);
}

Deno.test("damaged containers cause an error that says so, and leave nothing behind", async (t) => {
  for (
    const { name, path, valid, expected } of [...bagCases, ...datasetCases]
  ) {
    if (valid || !["error", "partial"].includes(expected.outcome)) continue;
    // Only decoding reveals the damage in its value: bytes are copied.
    if (name.endsWith("bad_value_utf8")) continue;
    // Its other records are located by its index, and are not lost.
    const isPartial = name === "granular3/bad_idx_past_end";
    const hasBadReferences = name.includes("/bad_ref_");
    await t.step(name, async () => {
      await withTempDir(async (dir) => {
        for (const target of ["out/", "out.bag", "out.ffr", "out"]) {
          const options = {
            ...target === "out" ? { to: "bags" } as const : {},
            lossy: !isPartial && !hasBadReferences,
            onWarning: () => {},
          };
          await assert.rejects(
            convert(path, `${dir}/${target}`, options),
            RecordfsError,
          );
          assert.deepEqual(namesIn(dir), []);
        }
        if (hasBadReferences) await assertLeftOut(path, `${dir}/out`);
        if (isPartial) {
          const options = { lossy: true, onWarning: () => {} };
          for (const target of ["out/", "out.bag"]) {
            const { count } = await convert(path, `${dir}/${target}`, options);
            assert.equal(count, 4); // its fifth end offset is wrong
          }
        }
      });
    });
  }
});

Deno.test("datapoints after the truncation of a bag are skipped, with the caller's consent", async () => {
  for (const shards of [1, 2]) {
    await withTempDir(async (dir) => {
      const source = `${dir}/a`;
      for (let shard = 0; shard < shards; shard++) {
        const path = shards === 1 ? source : `${source}/00000${shard}`;
        const datapoints = [0, 1, 2].map((n) => ({
          a: new Uint8Array(10).fill(3 * shard + n),
          b: bytes(n),
        }));
        writeDataset(path, { a: "bytes", b: "bytes" }, datapoints, 3);
        if (shard > 0 || shards === 1) await Deno.truncate(`${path}/a.bag`, 15);
      }
      const warnings: string[] = [];
      const options = {
        to: "bags",
        onWarning: (line: string) => warnings.push(line),
      } as const;
      await assert.rejects(convert(source, `${dir}/b`, options), {
        code: "would-lose",
      });
      assert.deepEqual(namesIn(dir), ["a"]);
      warnings.length = 0;
      const report = await convert(source, `${dir}/b`, {
        ...options,
        lossy: true,
      });
      assert.deepEqual([report.count, report.leftOut], [3 * shards - 2, 2]);
      const left = warnings.filter((line) => line.startsWith("skipped: "));
      assert.equal(left.length, 2);
      assert.match(
        left[0]!,
        /datapoint 1 of .*: Cannot read record 1 of .*a\.bag: .*truncated/,
      );
      using made = ShardedDatasetReader.openSync(`${dir}/b`);
      const all = await made.read(Array(made.length).keys());
      const expected = [[0], [0, 1, 2, 3]][shards - 1];
      assert.deepEqual(all.map(({ a }) => (a as Uint8Array)[0]), expected);

      const files = await convert(source, `${dir}/c`, {
        ...options,
        to: "folder",
        lossy: true,
      });
      assert.equal(files.leftOut, 2); // values: those of the other key are intact
      const last = shards === 1 ? `${dir}/c` : `${dir}/c/000001`;
      assert.deepEqual(namesIn(`${last}/000000`), ["a", "b"]);
      assert.deepEqual(namesIn(`${last}/000001`), ["b"]);
    });
  }
});

Deno.test("records after the truncation of a dataset's only bag are skipped in other formats", async () => {
  await withTempDir(async (dir) => {
    const datapoints = [0, 1, 2].map((n) => ({
      a: new Uint8Array(10).fill(n),
    }));
    writeDataset(`${dir}/a`, { a: "bytes" }, datapoints, 3);
    await Deno.truncate(`${dir}/a/a.bag`, 25);
    const options = { lossy: true, onWarning() {} };
    const target = `${dir}/b.bag`;
    const report = await convert(`${dir}/a`, target, options);
    assert.deepEqual([report.count, report.leftOut], [2, 1]);
    using bag = BagReader.openSync(target);
    const records = await bag.read([0, 1]);
    assert.deepEqual(records.map(([first]) => first), [0, 1]);
  });
});
