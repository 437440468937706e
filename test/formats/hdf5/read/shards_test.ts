/** Several files as one, and what the index cache keeps of a large one. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open, openDataset, openSamples } from "../../../../mod.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";
import { asked, serving } from "../../../support/remote/serving.ts";
import { withTempDir } from "../../../support/paths.ts";
import { hdf5Case } from "../../../support/hdf5/hdf5_golden.ts";

const quiet = { onWarning() {} };

/** Copies a file of three rows as shards; returns their pattern. */
function writeShards(dir: string, count: number): string {
  for (let i = 0; i < count; i++) {
    const name = `x-0000${i}-of-0000${count}.h5`;
    fs.copyFileSync(hdf5Case("small").path, `${dir}/${name}`);
  }
  return `${dir}/x-?????-of-0000${count}.h5`;
}

const NUMBERS = [7, 8, 9];

Deno.test("shards are one set of rows, by a pattern, by braces and by their directory", () =>
  withTempDir(async (dir) => {
    const pattern = writeShards(dir, 3);
    const braces = `${dir}/x-{00000..00002}-of-00003.h5`;
    for (const path of [pattern, braces, dir]) {
      using samples = await openSamples(path, quiet);
      const rows = await samples.get([8, 0, 4]) as { n: number }[];
      assert.equal(samples.length, 9);
      assert.deepEqual(rows.map(({ n }) => n), [9, 7, 8], path);
      using dataset = await openDataset(path, quiet);
      assert.equal((await dataset.get([5]))[0]!["n"], 9);
      using shown = await open(path, quiet);
      const names = ["x-00000-of-00003", "x-00001-of-00003"];
      assert.deepEqual((await shown.list("")).slice(0, 2), names);
      const own = (await shown.read(`${names[1]}/n.npy`)).slice(-24);
      assert.deepEqual([...new BigInt64Array(own.buffer)].map(Number), NUMBERS);
      assert.equal(shown.info.facts!["rows"], 9);
    }
  }));

Deno.test("the sample view of shards has a directory for each, and rows below it", () =>
  withTempDir(async (dir) => {
    const pattern = writeShards(dir, 2);
    using shown = await open(pattern, { ...quiet, sampleView: true });
    const paths = await Array.fromAsync(shown.walk(""), ({ path }) => path);
    assert.equal(paths.length, 2 + 2 * 3 + 2 * 3 * 2);
    const text = await shown.read("x-00001-of-00002/000002/n.json");
    assert.equal(new TextDecoder().decode(text), "9\n");
  }));

Deno.test("a damaged shard is skipped, and said to be", () =>
  withTempDir(async (dir) => {
    const pattern = writeShards(dir, 3);
    fs.truncateSync(`${dir}/x-00001-of-00003.h5`, 5000);
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    using samples = await openSamples(pattern, { onWarning });
    assert.equal(samples.length, 6);
    assert.match(warnings.join("\n"), /x-00001-of-00003\.h5.*too early/);
  }));

Deno.test("rows of files that lack a dataset are null there, and files without rows make files of all", () =>
  withTempDir(async (dir) => {
    writeShards(dir, 2);
    const [first, second] = [0, 1].map((i) => `${dir}/x-0000${i}-of-00002.h5`);
    fs.copyFileSync(hdf5Case("rows").path, second!);
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    using samples = await openSamples(dir, { onWarning });
    assert.equal(samples.length, 43);
    const row = await samples.get(3) as Record<string, unknown>;
    assert.deepEqual([row["n"], row["labels"]], [null, 0]);
    assert.match(warnings.join("\n"), /has no column/);
    fs.copyFileSync(hdf5Case("types").path, first!);
    using shown = await open(dir, quiet);
    assert.equal(shown.info.kind, "arrays in shards");
  }));

Deno.test({
  name: "the second opening of a large file on a server reads no headers",
  ...needs("h5py"),
  fn: () =>
    serving(async (served) => {
      const { dir, server, remote } = served;
      const script = `
import h5py, numpy
with h5py.File(${JSON.stringify(`${dir}/a.h5`)}, "w") as file:
    for i in range(100):
        file[f"group{i}/x"] = numpy.full(100_000, i, "i4")
`;
      const { success, stderr } = await new Deno.Command(PYTHON, {
        args: ["-c", script],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      const openOnce = async () => {
        const before = asked(served).bytes;
        using shown = await open(`${server.url}/a.h5`, {
          remote: {
            ...remote,
            cache: { directory: `${dir}/cache`, size: 0 },
          },
        });
        assert.equal(shown.info.files, 100);
        return asked(served).bytes - before;
      };
      const first = await openOnce();
      const second = await openOnce();
      assert.ok(second < first / 4, `${first} bytes, then ${second}`);
    }),
});
