/** The commands on all bags and datasets of the original packages, valid and damaged. */
import assert from "node:assert/strict";
import { LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import {
  bagCases,
  datasetCases,
  generationOf,
} from "../../../support/bags/bag_golden.ts";
import { sha256 } from "../../../support/golden.ts";
import { type Ran, recordfs, succeed } from "../../run_cli.ts";

async function runAll(lines: readonly string[][]): Promise<Ran[]> {
  const ended: Ran[] = [];
  for (const line of lines) ended.push(await recordfs(line));
  return ended;
}

for (const set of ["bag", "bags", "granular", "granular2", "granular3"]) {
  Deno.test(`${set}: every command reports what is wrong with damaged data, and nothing for undamaged data`, async () => {
    await withTempDir(async (dir) => {
      const cases = [...bagCases, ...datasetCases].filter(({ name }) =>
        name.startsWith(`${set}/`)
      );
      const commands = (path: string, i: number): string[][] => {
        const others = [
          ["info", "--json", path],
          ["ls", "-lR", "--decoded", path],
          ["tree", path],
          ["stat", path, "/"],
          ["cat", path, "000000", "000000/nothing"],
          ["extract", path, `${dir}/${i}`],
          ["extract", "--decoded", path, `${dir}/${i}.decoded`],
        ];
        // Two of the other commands per case, alternating, so that each command meets every kind of case.
        const some = [others[i % 7]!, others[(i + 4) % 7]!];
        return [
          ["check", "--values", path],
          ["info", path],
          ...(LONG ? others : some),
        ];
      };
      const lines = cases.flatMap(({ path }, i) => commands(path, i));
      const ended = await runAll(lines);
      for (const [i, { name, valid, expected }] of cases.entries()) {
        const count = commands("", 0).length;
        const own = ended.slice(i * count, (i + 1) * count);
        const [check, info] = own as [Ran, Ran];
        for (const [k, { code, stderr }] of own.entries()) {
          const what = `${lines[i * count + k]!.join(" ")}: ${stderr}`;
          assert.ok(code === 0 || code === 1, what);
          assert.match(stderr, /^(recordfs: [^\n]+\n)*$/, what);
          assert.doesNotMatch(
            stderr,
            /\bat .*:\d+:\d+|should not happen/,
            what,
          );
          const isCat = lines[i * count + k]![0] === "cat";
          const isUnfinished = name.endsWith("killed_writer") && k === 0;
          if (valid && !isCat) assert.equal(code, isUnfinished ? 1 : 0, what);
        }
        if (valid || expected.outcome === "error-or-ok") continue;
        assert.equal(check.code, 1, name);
        assert.ok((check.stdout + check.stderr).includes(expected.words), name);
        if (expected.outcome === "error") assert.equal(info.code, 1, name);
      }
    });
  });
}

Deno.test("info shows the generation, datapoints, shards, and facts of each key", async () => {
  const cases = datasetCases.filter(({ name, valid }) =>
    valid && !name.endsWith("killed_writer")
  );
  const lines = cases.flatMap(({ path }) => [
    ["info", "--json", path],
    ["info", path],
  ]);
  const ended = await runAll(lines);
  for (const [i, golden] of cases.entries()) {
    const { sharded, length, spec, shards } = golden.content!;
    const info = JSON.parse(ended[2 * i]!.stdout);
    assert.deepEqual(info.facts, {
      generation: generationOf(golden),
      datapoints: length,
      ...sharded ? { shards: shards.length } : {},
    });
    const keys = Object.entries(spec).map(([name, type]) => {
      const records = shards.flatMap(({ bags }) => bags[name]!.records);
      const bytes = records.reduce((sum, { size }) => sum + size, 0);
      return { name, type, records: records.length, bytes };
    });
    assert.deepEqual(info.keys, keys, golden.name);
    const text = ended[2 * i + 1]!.stdout;
    assert.match(text, new RegExp(`^ +datapoints?: ${length}$`, "m"));
    for (const { name, type, bytes } of keys) {
      assert.ok(text.includes(`key: ${name} (${type}, `), text);
      assert.ok(text.includes(`${bytes} byte`), text);
    }
  }
});

Deno.test("cat writes the stored bytes, and with --decoded the decoded values", async () => {
  const { path, content } = datasetCases.find(({ valid, content }) =>
    valid && content!.sharded && Object.values(content!.spec).includes("utf8")
  )!;
  const shard = content!.shards[1]!;
  const [key] = Object.entries(content!.spec).find(([, type]) =>
    type === "utf8"
  )!;
  const file = `000001/000000/${key}`;
  const raw = await succeed(["cat", path, file]);
  const expected = shard.bags[key]!.records[0]!;
  assert.equal(sha256(raw.bytes), expected.sha256);
  const text = await succeed(["cat", "--decoded", path, `${file}.txt`]);
  assert.deepEqual(text.bytes, raw.bytes);
});
