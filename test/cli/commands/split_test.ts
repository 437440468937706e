import assert from "node:assert/strict";
import { FFRecordDataset } from "../../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { Subset } from "../../../src/data/datasets/subset.ts";
import { goldenCase } from "../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { writeBag, writeDataset } from "../../support/bags/make_bag.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { range } from "../../support/list_dataset.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { assertFailed, CLI, recordfs, run, succeed } from "../run_cli.ts";

const { path: samples, content } = goldenCase("ffrecord/plain_many");
const RATIOS = ["--ratios", "0.8,0.1,0.1"];
const bytes = (text: string) => new TextEncoder().encode(text);

/** Reads the indices in a file. All other lines must be comments. */
function indicesIn(file: string): number[] {
  const lines = Deno.readTextFileSync(file).trimEnd().split("\n");
  return lines.filter((line) => !line.startsWith("# ")).map((line) => {
    assert.match(line, /^\d+$/);
    return Number(line);
  });
}

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name).toSorted();
}

/** Reads the splits in a directory, which must contain every index once. */
function splitsIn(dir: string, names: readonly string[], length: number) {
  const splits = names.map((name) => indicesIn(`${dir}/${name}.txt`));
  const all = splits.flat().toSorted((a, b) => a - b);
  assert.deepEqual(all, range(0, length));
  for (const split of splits) {
    assert.deepEqual(split, split.toSorted((a, b) => a - b));
  }
  return splits;
}

Deno.test("split writes every index to one file, depending on the seed", async () => {
  await withTempDir(async (dir) => {
    const split = async (out: string, seed: string) => {
      const place = `${dir}/${out}`;
      const args = [samples, ...RATIOS, "--seed", seed, "--out", place];
      const { stdout } = await succeed(["split", ...args]);
      assert.deepEqual(
        stdout.split("\n"),
        [
          `${place}/train.txt: 1130 samples`,
          `${place}/val.txt: 141 samples`,
          `${place}/test.txt: 141 samples`,
          "",
        ],
      );
      assert.deepEqual(
        namesIn(place),
        ["test.txt", "train.txt", "val.txt"],
      );
      return splitsIn(place, ["train", "val", "test"], content.n);
    };
    const first = await split("a/new/place", "1");
    assert.deepEqual(first.map(({ length }) => length), [1130, 141, 141]);
    using dataset = await FFRecordDataset.open(samples);
    const subset = await Subset.fromFile(dataset, `${dir}/a/new/place/val.txt`);
    assert.equal(subset.length, 141);
    assert.deepEqual(
      await subset.get(range(0, 141)),
      await dataset.get(first[1]!),
    );
    assert.deepEqual(await split("again", "1"), first);
    assert.notDeepEqual(await split("other", "2"), first);
  });
});

Deno.test("split counts the samples that datasets of a container count", async () => {
  await withTempDir(async (dir) => {
    const point = { n: bytes("1"), m: bytes("2") };
    const points = (count: number) => new Array(count).fill(point);
    writeDataset(`${dir}/set`, { m: "utf8", n: "utf8" }, points(7), 3);
    for (const [shard, count] of [4, 5].entries()) {
      const place = `${dir}/shards/00000${shard}`;
      writeDataset(place, { m: "utf8", n: "utf8" }, points(count), 3);
    }
    writeBag(`${dir}/one.bag`, [bytes("a"), bytes("b"), bytes("c")], 1);
    const video = (id: string) => ({ id, frames: [fakeJpeg(9), fakeJpeg(8)] });
    writeChunk(`${dir}/gulp`, 0, [video("a"), video("b")]);
    writeChunk(`${dir}/gulp`, 1, [video("c"), video("d"), video("e")]);
    const packed = packedSamples({ a: bytes("x"), b: { c: bytes("y") } });
    await Deno.writeFile(`${dir}/packed.ffr`, ffrBytes(packed));
    const cases: [source: string, unit: string, length: number][] = [
      ["set", "datapoints", 7],
      ["shards", "datapoints", 9],
      ["one.bag", "samples", 3],
      ["gulp", "videos", 5],
      ["gulp/data_1.gulp", "videos", 3],
      ["packed.ffr", "files", 2],
    ];
    for (const [i, [source, unit, length]] of cases.entries()) {
      const args = [`${dir}/${source}`, "--ratios", "2,1"];
      const out = `${dir}/out${i}`;
      const { stdout } = await succeed(
        ["split", ...args, "--out", out, "--json"],
      );
      const found = JSON.parse(stdout);
      assert.deepEqual([found.unit, found.length], [unit, length], source);
      splitsIn(out, ["train", "val"], length);
    }
    const { stdout } = await succeed(
      ["split", `${dir}/packed.ffr`, "--format", "ffrecord-samples"].concat(
        ["--ratios", "1", "--out", dir, "--json"],
      ),
    );
    assert.equal(JSON.parse(stdout).length, 3); // the structure is a sample as well
  });
});

Deno.test("split --stratify by the labels of videos", async () => {
  await withTempDir(async (dir) => {
    const labels = range(0, 50).map((i) => i % 5 === 0 ? "rare" : "usual");
    for (const chunk of [0, 1]) {
      const videos = range(25 * chunk, 25 * chunk + 25).map((i) => ({
        id: `video/${i}`,
        frames: [fakeJpeg(8)],
        meta: { label: labels[i], idx: i % 2 },
      }));
      writeChunk(`${dir}/gulp`, chunk, videos);
    }
    const { stdout } = await succeed(
      ["split", `${dir}/gulp`, ...RATIOS, "--stratify", "label"].concat(
        ["--out", dir, "--json", "--seed", "3"],
      ),
    );
    const splits = splitsIn(dir, ["train", "val", "test"], 50);
    const counts = splits.map((split) => ({
      rare: split.filter((index) => labels[index] === "rare").length,
      usual: split.filter((index) => labels[index] === "usual").length,
    }));
    assert.deepEqual(counts, [
      { rare: 8, usual: 32 },
      { rare: 1, usual: 4 },
      { rare: 1, usual: 4 },
    ]);
    const { seed, ratios, stratify, splits: told } = JSON.parse(stdout);
    assert.deepEqual([seed, ratios, stratify], [3, "0.8,0.1,0.1", "label"]);
    assert.deepEqual(
      told,
      ["train", "val", "test"].map((name, i) => ({
        name,
        path: `${dir}/${name}.txt`,
        count: splits[i]!.length,
        labels: counts[i],
      })),
    );
    await succeed(
      ["split", `${dir}/gulp`, "--ratios", "1,1", "--stratify", "idx"].concat(
        ["--out", `${dir}/idx`],
      ),
    );
    for (const split of splitsIn(`${dir}/idx`, ["train", "val"], 50)) {
      const odd = split.filter((index) => index % 2 === 1).length;
      assert.ok(odd === 12 || odd === 13);
    }
  });
});

Deno.test("split --stratify by a key of a dataset, in all generations", async () => {
  await withTempDir(async (dir) => {
    const spec = { flag: "int", text: "utf8", texts: "utf8[]" };
    const points = range(0, 20).map((i) => ({
      flag: new Uint8Array(new BigInt64Array([BigInt(i % 2)]).buffer),
      text: bytes(i < 12 ? "a" : "b"),
      texts: [bytes("x")],
    }));
    const { texts: _, ...flat } = spec;
    for (const generation of [1, 2, 3] as const) {
      const place = `${dir}/set${generation}`;
      const isFlat = generation === 3;
      writeDataset(
        place,
        isFlat ? flat : spec,
        isFlat ? points.map(({ flag, text }) => ({ flag, text })) : points,
        generation,
      );
      for (
        const [key, labelOf] of [
          ["text", (index: number) => index < 12 ? 0 : 1],
          ["flag", (index: number) => index % 2],
        ] as const
      ) {
        const out = `${dir}/${key}${generation}`;
        await succeed(
          ["split", place, "--ratios", "0.5,0.5", "--stratify", key].concat(
            ["--out", out],
          ),
        );
        const counts = splitsIn(out, ["train", "val"], 20).map((split) =>
          [0, 1].map((label) =>
            split.filter((index) => labelOf(index) === label).length
          )
        );
        const half = key === "text" ? [6, 4] : [5, 5];
        assert.deepEqual(counts, [half, half], `${key} ${generation}`);
      }
    }
    assertFailed(
      await recordfs(
        ["split", `${dir}/set1`, ...RATIOS, "--stratify", "texts"].concat(
          ["--out", dir],
        ),
      ),
      1,
      /Cannot stratify .*datapoint 0 has no single value of 'texts'/,
    );
  });
});

Deno.test("split --stratify by the directories of files", async () => {
  await withTempDir(async (dir) => {
    const files = (count: number) =>
      Object.fromEntries(range(0, count).map((i) => [`${i}`, bytes(`${i}`)]));
    const folder = {
      cat: { big: files(10), small: files(10) },
      dog: files(30),
      ...files(10),
    };
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packedSamples(folder)));
    const split = async (label: string) => {
      const { stdout } = await succeed(
        ["split", `${dir}/a.ffr`, ...RATIOS, "--stratify", label].concat(
          ["--out", `${dir}/${label}`, "--json"],
        ),
      );
      splitsIn(`${dir}/${label}`, ["train", "val", "test"], 60);
      return JSON.parse(stdout).splits[0].labels;
    };
    assert.deepEqual(await split("dir"), { "": 8, cat: 16, dog: 24 });
    assert.deepEqual(
      await split("parent"),
      { "": 8, "cat/big": 8, "cat/small": 8, dog: 24 },
    );
    const { stdout } = await succeed(["ls", "-R", `${dir}/a.ffr`]);
    const paths = stdout.trim().split("\n").filter((path) => /\d$/.test(path));
    const dogs = paths.flatMap((path, i) => path.startsWith("dog") ? [i] : []);
    const train = indicesIn(`${dir}/dir/train.txt`);
    assert.equal(train.filter((index) => dogs.includes(index)).length, 24);
  });
});

Deno.test("split names its files, and replaces none without --force", async () => {
  await withTempDir(async (dir) => {
    const args = ["split", samples, "--ratios", "1,1,1,1", "--out", dir];
    await succeed(args);
    splitsIn(dir, ["split_0", "split_1", "split_2", "split_3"], content.n);
    const named = ["split", samples, "--ratios", "9,1", "--out", dir].concat(
      ["--names", "fit, split_3"],
    );
    assertFailed(
      await recordfs(named),
      1,
      /split_3\.txt: it exists\. Replace it with --force/,
    );
    assert.equal(indicesIn(`${dir}/split_3.txt`).length, 353);
    await succeed([...named, "--force"]);
    splitsIn(dir, ["fit", "split_3"], content.n);
  });
});

Deno.test("split reports which split is empty", async () => {
  await withTempDir(async (dir) => {
    const { path } = goldenCase("ffrecord/plain_one");
    const ran = await recordfs(["split", path, ...RATIOS, "--out", dir]);
    assert.equal(ran.code, 0);
    assert.match(
      ran.stderr,
      /^recordfs: warning: .*val\.txt has no samples\n.*test\.txt has no samples\n$/,
    );
    assert.match(ran.stdout, /train\.txt: 1 sample\n.*val\.txt: 0 samples\n/);
    splitsIn(dir, ["train", "val", "test"], 1);
  });
});

Deno.test("a failed split leaves nothing behind", async () => {
  await withTempDir(async (dir) => {
    const out = `${dir}/out`;
    await Deno.writeTextFile(`${dir}/file`, "");
    const gulp = `${dir}/gulp`;
    writeChunk(gulp, 0, [
      { id: "a", frames: [fakeJpeg(8)], meta: { label: ["x"] } },
    ]);
    const cases: [args: string[], code: number, words: RegExp][] = [
      [[samples, "--ratios", "0.8,0.1"], 2, /must sum to 1, not 0\.9/],
      [[samples, "--ratios", "0.8,x"], 2, /Ratios must be .*, not 'x'/],
      [[samples], 2, /required option '--ratios/],
      [[samples, ...RATIOS, "--seed", "-1"], 2, /whole number from 0 on/],
      [[samples, ...RATIOS, "--seed", "1e3"], 2, /whole number from 0 on/],
      [
        [samples, ...RATIOS, "--seed", "9007199254740992"],
        2,
        /whole number from 0 to 9007199254740991/,
      ],
      [[samples, ...RATIOS, "--names", "a,b"], 2, /3 ratios and 2 names/],
      [
        [samples, ...RATIOS, "--names", "a,b,a"],
        2,
        /have the same name: a,b,a/,
      ],
      [[samples, ...RATIOS, "--names", "a,,b"], 2, /'' is not a valid name/],
      [
        [samples, ...RATIOS, "--names", "a,b,../c"],
        2,
        /'\.\.\/c' is not a valid name/,
      ],
      [["", ...RATIOS], 2, /path of the container is empty/],
      [[`${dir}/none.ffr`, ...RATIOS], 1, /none\.ffr/],
      [[samples, ...RATIOS, "--stratify", "dir"], 1, /bytes without labels/],
      [
        [goldenCase("ffrecord/packed_tree").path, ...RATIOS].concat(
          ["--stratify", "label"],
        ),
        1,
        /Cannot stratify by 'label': files have no such label.*'dir'.*'parent'/,
      ],
      [
        [gulp, ...RATIOS, "--stratify", "label"],
        1,
        /read label 'label' of sample 0 \('a'\) of .*gulp\/data_0\.gulp/,
      ],
      [
        [gulp, ...RATIOS, "--stratify", "toString"],
        1,
        /'a' has no single value of 'toString'/,
      ],
    ];
    for (const [args, code, words] of cases) {
      assertFailed(
        await recordfs(["split", ...args, "--out", out]),
        code,
        words,
      );
    }
    assert.deepEqual(namesIn(dir), ["file", "gulp"]);
    assertFailed(
      await recordfs(["split", samples, ...RATIOS, "--out", `${dir}/file`]),
      1,
      /file exists and is not a directory/,
    );
    assertFailed(
      await recordfs(["split", samples, ...RATIOS, "--out", ""]),
      2,
      /path of the directory of the files is empty/,
    );
  });
});

Deno.test("split needs --allow-read, and --allow-write where it writes", async () => {
  await withTempDir(async (dir) => {
    const permissions = ["--allow-read", `--allow-write=${dir}`];
    await succeed(["split", samples, ...RATIOS, "--out", dir], { permissions });
    splitsIn(dir, ["train", "val", "test"], content.n);
  });
});

Deno.test({
  name: "split shows progress on a terminal (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      const command = `'${Deno.execPath()}' run -A '${CLI}' split ` +
        `'${samples}' --ratios 1,1 --out '${dir}'`;
      const ran = await run(["script", "-qec", command, "/dev/null"]);
      assert.equal(ran.code, 0);
      assert.match(ran.stdout, /splitting .*%/s);
    });
  },
});
