/** `recordfs bag create` makes the datasets of the original packages again. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DatasetReader, decodersOf } from "../../../../src/formats/bags/mod.ts";
import { valueToJson } from "../../../../src/formats/bags/types/json_values.ts";
import type { TreeContent } from "../../../../src/codecs/values/array_tree.ts";
import {
  type DatasetCase,
  datasetCase,
  datasetCases,
  generationOf,
} from "../../../support/bags/bag_golden.ts";
import {
  filesBelow,
  naiveBag,
  naiveDataset,
} from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";
import { CLI, run, succeed } from "../../run_cli.ts";

/** Datasets whose writer completed: the other one was killed. */
const WRITTEN = datasetCases.filter(({ name, valid }) =>
  valid && name !== "granular3/killed_writer"
);

/** Types whose values JSON lines contain. Other types have their bytes there. */
const IN_JSON = /^(array|i64|int|msgpack|tree|u64|utf8)\b/;

Deno.test("files that extract wrote become the same dataset, in every generation", async () => {
  await withTempDir(async (dir) => {
    assert.deepEqual(new Set(WRITTEN.map(generationOf)), new Set([1, 2, 3]));
    for (const golden of WRITTEN) {
      const name = golden.name.replace("/", "_");
      const [files, out] = [`${dir}/${name}.files`, `${dir}/${name}`];
      await succeed(["extract", golden.path, files]);
      const generation = String(generationOf(golden));
      const { stdout } = await succeed(
        ["bag", "create", out, files, "--generation", generation],
      );
      assert.deepEqual(filesBelow(out), filesBelow(golden.path), golden.name);
      const { length, shards, sharded } = golden.content!;
      const words = [
        `${length} datapoint`,
        ...sharded ? [`${shards.length} shard`] : [],
      ];
      for (const word of words) assert.ok(stdout.includes(word), stdout);
    }
  });
});

Deno.test("JSON lines of the values that the reader returns become the same dataset", async () => {
  await withTempDir(async (dir) => {
    const unsharded = WRITTEN.filter((golden) => !golden.content!.sharded);
    assert.ok(unsharded.length >= 10);
    for (const golden of unsharded) {
      const name = golden.name.replace("/", "_");
      const lines = `${dir}/${name}.jsonl`;
      fs.writeFileSync(lines, await linesOf(golden));
      await succeed([
        ...["bag", "create", `${dir}/${name}`, lines],
        ...["--spec", `${golden.path}/spec.json`],
        ...["--generation", String(generationOf(golden))],
      ]);
      const out = `${dir}/${name}`;
      const generation = generationOf(golden);
      const files = [out, golden.path].map((path) =>
        comparable(path, generation)
      );
      assert.deepEqual(files[0], files[1], name);
      for (const key of generation === 1 ? integersOf(out) : []) {
        const theirs = naiveBag(`${golden.path}/${key}.bag`, 1);
        assert.deepEqual(
          naiveBag(`${out}/${key}.bag`, 1),
          theirs.map(withClearTopBit),
        );
      }
      const again = await linesOf({ ...golden, path: out });
      assert.equal(again, fs.readFileSync(lines, "utf8"));
    }
  });
});

/**
 * Returns the files of a dataset, except bags of arrays, whose byte order JSON does not preserve, and bags of integers
 * of generation 1, which differ from the originals' bytes.
 */
function comparable(
  directory: string,
  generation: number,
): Map<string, Uint8Array> {
  const files = filesBelow(directory);
  for (const [key, type] of Object.entries(specIn(directory))) {
    if (/^(array|tree)(\[\])?$/.test(type)) files.delete(`${key}.bag`);
  }
  for (const key of generation === 1 ? integersOf(directory) : []) {
    files.delete(`${key}.bag`);
  }
  return files;
}

/** Returns the keys of integers without a size. */
function integersOf(directory: string): string[] {
  return Object.entries(specIn(directory))
    .filter(([, type]) => /^int(\[\])?$/.test(type)).map(([key]) => key);
}

function specIn(directory: string): Record<string, string> {
  return JSON.parse(fs.readFileSync(`${directory}/spec.json`, "utf8"));
}

/** Encodes an integer for generation 1, with a clear top bit: granular 0.17.1 to 0.21.2 read it as a sign. */
function withClearTopBit(record: Uint8Array): Uint8Array {
  return (record.at(-1) ?? 0) >= 0x80 ? Uint8Array.of(...record, 0) : record;
}

/** Returns a line for each datapoint, with the keys in another order than in the spec. */
async function linesOf(golden: DatasetCase): Promise<string> {
  const decoders = Object.fromEntries(
    Object.entries(decodersOf(generationOf(golden), { keepFloats: true }))
      .filter(([type]) => IN_JSON.test(type)),
  );
  using reader = await DatasetReader.open(golden.path, { decoders });
  let lines = "";
  for (let i = 0; i < reader.length; i++) {
    const values = Object.entries(await reader.get(i)).reverse();
    const parts = values.map(([key, value]) =>
      `${JSON.stringify(key)}: ${valueToJson(value as TreeContent)}`
    );
    lines += `{${parts.join(", ")}}\n`;
  }
  return lines;
}

Deno.test("lines from standard input, the spec on the command line, files that lines name", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/images`);
    const image = Uint8Array.from({ length: 3_000_000 }, (_, i) => i * 7 >> 3);
    fs.writeFileSync(`${dir}/images/large`, image);
    fs.writeFileSync(`${dir}/images/small`, "small");
    const spec = '{"image": "jpeg", "text": "utf8", "views": "png[]"}';
    const small = { $file: "images/small" };
    const lines = [
      { image: { $file: "images/large" }, text: "käse\n", views: [] },
      { image: { $bytes: "AAEC" }, text: small, views: [small, small] },
    ].map((line) => JSON.stringify(line)).join("\n");
    fs.writeFileSync(`${dir}/lines`, lines);
    const args = ["--spec", spec, "--generation", "2"];
    // Paths are relative to the file of the lines, ...
    await succeed(["bag", "create", `${dir}/a`, `${dir}/lines`, ...args]);
    // ... and relative to the current directory for standard input.
    const { code, stderr } = await run(
      ["sh", "-c", `"$0" "$@" < lines`, Deno.execPath(), "run", "-A", CLI]
        .concat(["bag", "create", "b", ...args]),
      { cwd: dir },
    );
    assert.deepEqual([stderr, code], ["", 0]);
    const bytes = (text: string) => new TextEncoder().encode(text);
    const expected = {
      spec: JSON.parse(spec),
      datapoints: [
        { image, text: bytes("käse\n"), views: [] },
        {
          image: Uint8Array.of(0, 1, 2),
          text: bytes("small"),
          views: [bytes("small"), bytes("small")],
        },
      ],
    };
    assert.deepEqual(naiveDataset(`${dir}/a`, 2), expected);
    assert.deepEqual(naiveDataset(`${dir}/b`, 2), expected);
  });
});

Deno.test("shards start as the options specify, in one process or alternating between several", async () => {
  await withTempDir(async (dir) => {
    const line = (n: number) => `{"n": ${n}}\n`;
    fs.writeFileSync(`${dir}/all`, [1, 2, 3, 4, 5].map(line).join(""));
    fs.writeFileSync(`${dir}/even`, [1, 2, 5].map(line).join(""));
    fs.writeFileSync(`${dir}/odd`, [3, 4].map(line).join(""));
    const create = (out: string, ...args: string[]) =>
      succeed(["bag", "create", out, ...args, "--spec", '{"n": "int"}']);
    for (const generation of ["1", "2", "3"] as const) {
      const of = ["--generation", generation];
      const [one, turns, sized, again] = ["one", "turns", "sized", "again"]
        .map((name) => `${dir}/${name}${generation}`) as [
          string,
          string,
          string,
          string,
        ];
      const two = [...of, "--shard-length", "2"];
      await create(one, `${dir}/all`, ...two);
      assert.deepEqual(fs.readdirSync(one).sort(), [
        "000000",
        "000001",
        "000002",
      ]);
      const last = naiveDataset(`${one}/000002`, Number(generation) as 1);
      assert.deepEqual(last.datapoints, [{ n: Uint8Array.of(5) }]);
      const step = [...two, "--shard-step", "2"];
      await create(turns, `${dir}/odd`, ...step, "--shard-start", "1");
      await create(turns, `${dir}/even`, ...step);
      assert.deepEqual(filesBelow(turns), filesBelow(one));
      // A datapoint of generation 3 has 9 bytes; those of other generations have more, for references.
      await create(sized, `${dir}/all`, ...of, "--shard-size", "1kB", "--json");
      assert.deepEqual(fs.readdirSync(sized), ["000000"]);
      // Converts a dataset with shards to other shards.
      await succeed(["extract", one, `${again}.files`]);
      await create(again, `${again}.files`, ...of, "--shard-size", "1 kB");
      assert.deepEqual(filesBelow(again), filesBelow(sized));
    }
  });
});

Deno.test("--json reports what was written; a spec may be that of the directory, or another", async () => {
  await withTempDir(async (dir) => {
    const { path } = datasetCase("granular2/one_datapoint");
    await succeed(["extract", path, `${dir}/files`]);
    const out = `${dir}/out`;
    const { stdout } = await succeed(
      ["bag", "create", "--json", out, `${dir}/files`, "--generation", "2"],
    );
    const { seconds, bytes, ...facts } = JSON.parse(stdout);
    assert.deepEqual(facts, {
      path: out,
      generation: 2,
      datapoints: 1,
      added: 1,
    });
    const bags = [...filesBelow(out)].filter(([name]) => name.endsWith(".bag"));
    assert.equal(bytes, bags.reduce((sum, [, { length }]) => sum + length, 0));
    assert.ok(seconds > 0);
    fs.writeFileSync(`${dir}/spec`, '{"b": "utf8", "a": "bytes[]"}');
    fs.mkdirSync(`${dir}/own/000000/a`, { recursive: true });
    fs.writeFileSync(`${dir}/own/000000/b`, "text\n");
    await succeed([
      ...["bag", "create", `${dir}/b`, `${dir}/own`],
      ...["--spec", `${dir}/spec`, "--generation", "1"],
    ]);
    assert.deepEqual(naiveDataset(`${dir}/b`, 1), {
      spec: { a: "bytes[]", b: "utf8" },
      datapoints: [{ a: [], b: new TextEncoder().encode("text\n") }],
    });
  });
});
