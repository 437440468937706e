/** `--subset FILE` of `extract`, `check` and `convert`: selects the samples of an index file. */
import assert from "node:assert/strict";
import { withTempDir } from "../../support/paths.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { CONTAINERS, indicesIn, numbersIn } from "../../support/ten_samples.ts";
import { assertFailed, recordfs, succeed } from "../run_cli.ts";

/** Splits a container of each kind in two, and calls `body` with the first index file. */
async function eachSplit(
  body: (
    path: string,
    subset: string,
    indices: readonly number[],
  ) => Promise<void>,
): Promise<void> {
  for (const [name, write] of Object.entries(CONTAINERS)) {
    await withTempDir(async (dir) => {
      const path = `${dir}/${name}`;
      write(path);
      const args = [path, "--ratios", "1,1", "--out", dir];
      await succeed(["split", ...args]);
      const subset = `${dir}/train.txt`;
      await body(path, subset, indicesIn(subset));
    });
  }
}

function otherDigit(digit: string): string {
  return digit === "0" ? "1" : "0";
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("extract writes the samples of an index file, and no others", () =>
  eachSplit(async (path, subset, indices) => {
    const out = `${path}.out/`;
    const { stdout } = await succeed([
      ...["extract", "--subset", subset, path, out],
    ]);
    assert.match(stdout, /: 5 of 10 samples, \d+ files, /);
    assert.deepEqual(await numbersIn(out), indices, path);
    const args = ["--json", "--force", `--subset=${subset}`, path, out];
    const json = await succeed(["extract", ...args]);
    const { subset: counts, failed } = JSON.parse(json.stdout);
    assert.deepEqual([counts, failed], [{ samples: 5, of: 10 }, []]);
  }));

Deno.test("check reads the samples of an index file, and prints their number", () =>
  eachSplit(async (path, subset) => {
    const { stdout } = await succeed(["check", "--subset", subset, path]);
    assert.ok(
      stdout.startsWith(`${path}: 5 of 10 samples, selected by ${subset}, `),
      stdout,
    );
    assert.equal(
      stdout.includes("all sound"),
      path.endsWith(".ffr"), // the others have no checksums
      stdout,
    );
    const args = ["--json", "--values", "--subset", subset, path];
    const report = JSON.parse((await succeed(["check", ...args])).stdout);
    const { ok, samples, of, damage, compares } = report;
    assert.equal(
      compares === "contents",
      /\.ffr$|points$|shards$|columns$/.test(path), // their values are decoded
      path,
    );
    assert.deepEqual(
      { ok, samples, of, subset: report.subset, damage },
      { ok: true, samples: 5, of: 10, subset, damage: [] },
    );
  }));

/** Targets of conversions, and their suffixes. */
const TARGETS: readonly (readonly [to: string, suffix: string])[] = [
  ["folder", ".d/"],
  ["mds", ".mds"],
  ["bags", ".points"],
  ["tar", ".out.tar"],
  ["ffrecord", ".out.ffr"],
  ["zip", ".zip"],
];

Deno.test("convert takes the samples of an index file, in their order", () =>
  eachSplit(async (path, subset, indices) => {
    for (const [to, suffix] of TARGETS) {
      const target = path + suffix;
      const files = to === "bags" && /packed\.ffr$|web\.tar$/.test(path);
      if (files && path.endsWith("packed.ffr")) continue; // no datapoints
      const args = ["--to", to, "--lossy", "--subset", subset, path, target];
      const { code, stdout, stderr } = await recordfs(["convert", ...args]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /becomes .*: 5 of 10 samples$/m);
      assert.match(stdout, /: \d+ \w+ from 5 of 10 samples\n$/);
      assert.deepEqual(await numbersIn(target), indices, target);
    }
  }));

Deno.test("records without names are converted by an index file", async () => {
  await eachSplit(async (path, subset, indices) => {
    if (!/samples\.ffr$|records\.bag$|points$|shards$/.test(path)) return;
    for (
      const [to, suffix] of [
        ["ffrecord-samples", ".s.ffr"],
        ["bag", ".out.bag"],
      ] as const
    ) {
      const target = path + suffix;
      const args = ["--to", to, "--json", "--lossy", "--subset", subset];
      const { stdout } = await succeed(["convert", ...args, path, target]);
      const { count, plan } = JSON.parse(stdout);
      assert.deepEqual([count, plan.subset], [5, { samples: 5, of: 10 }]);
      assert.deepEqual(await numbersIn(target), indices, target);
    }
  });
});

Deno.test("an index file that does not fit is rejected, and nothing is written", () =>
  eachSplit(async (path, subset) => {
    const dir = path.slice(0, path.lastIndexOf("/"));
    const [first, ...rest] = (await Deno.readTextFile(subset)).split("\n");
    const write = (name: string, line: string, ...indices: string[]) => {
      const lines = [line, ...rest.slice(0, -1), ...indices, ""];
      Deno.writeTextFileSync(`${dir}/${name}`, lines.join("\n"));
      return `${dir}/${name}`;
    };
    const files: [string, RegExp][] = [
      [
        write("count", first!.replace("samples=10", "samples=11")),
        /count, line 1: it is an index file of 11 samples, and this container has 10\./,
      ],
      [
        write("names", first!.replace(/(?<=names=)./, otherDigit)),
        /names, first comment: it is an index file of other samples/,
      ],
      [write("beyond", "# own", "10"), /there is no sample 10: valid/],
      [
        write("word", "# own", "x"),
        /not an index file: expected one whole number per line/,
      ],
      [`${dir}/none.txt`, /none\.txt/],
    ];
    const target = `${dir}/target.d`;
    for (const [file, words] of files) {
      for (
        const command of [
          ["extract", path, target],
          ["convert", "--to", "folder", path, target],
          ["check", path],
        ]
      ) {
        const ran = await recordfs([...command, "--subset", file]);
        assertFailed(ran, 1, words);
        assert.ok(!isThere(target), `${command}`);
      }
    }
  }));

Deno.test("the path of an index file must not be empty", async () => {
  for (
    const command of ["extract a.ffr out", "convert a.ffr out", "check a.ffr"]
      .concat("serve a.ffr", "view a.ffr", "mount a.ffr mnt")
  ) {
    const ran = await recordfs([...command.split(" "), "--subset", ""]);
    assertFailed(ran, 2, /the path of the index file is empty/);
  }
});

Deno.test("extract --subset fails for a damaged video only if it is one of them", () =>
  withTempDir(async (dir) => {
    const meta = writeChunk(`${dir}/gulp`, 0, [
      { id: "v", frames: [fakeJpeg(8)] },
      { id: "w", frames: [fakeJpeg(12)] },
      { id: "x", frames: [fakeJpeg(16)] },
    ]);
    meta["w"]!.frame_info = [[1 << 30, 0, 100]];
    const text = JSON.stringify(meta);
    await Deno.writeTextFile(`${dir}/gulp/meta_0.gmeta`, text);
    const extract = async (name: string, ...indices: number[]) => {
      const subset = `${dir}/i.txt`;
      await Deno.writeTextFile(subset, indices.join("\n"));
      const args = ["--subset", subset, `${dir}/gulp`, `${dir}/${name}`];
      return await recordfs(["extract", ...args]);
    };
    const sound = await extract("sound", 0, 2);
    assert.equal(sound.code, 0, sound.stderr);
    const bad = await extract("bad", 1, 2);
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /Cannot extract sample 1 of /);
    assert.match(bad.stderr, /1 file or directory was not extracted/);
    assert.ok(isThere(`${dir}/bad/x/frame_0001.jpg`));
    const whole = await recordfs(["extract", `${dir}/gulp`, `${dir}/whole`]);
    assert.equal(whole.code, 1);
  }));

Deno.test("a folder has no numbered samples to convert", () =>
  withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/folder`);
    await Deno.writeTextFile(`${dir}/folder/a.txt`, "a");
    await Deno.writeTextFile(`${dir}/i.txt`, "0\n");
    const ran = await recordfs([
      ...["convert", "--subset", `${dir}/i.txt`, `${dir}/folder`],
      `${dir}/a.tar`,
    ]);
    assertFailed(ran, 1, /no numbered samples\. Remove --subset\n/);
    assert.ok(!isThere(`${dir}/a.tar`));
  }));

/** Error code of a damaged sample by container, and whether only decoding detects it. */
const DAMAGE: Readonly<
  Record<string, { values: boolean; code: string; file?: string }>
> = {
  "samples.ffr": { values: false, code: "sample-checksum" },
  "packed.ffr": { values: false, code: "sample-checksum" },
  "points": { values: true, code: "bad-value", file: "points/t.bag" },
  "shards": { values: true, code: "bad-value", file: "shards/000001/t.bag" },
  "columns": {
    values: true,
    code: "bad-value",
    file: "columns/shard.00001.mds",
  },
};

Deno.test("check --subset finds a damaged sample if it is one of them", async () => {
  for (const [name, { values, code, file = name }] of Object.entries(DAMAGE)) {
    await withTempDir(async (dir) => {
      const path = `${dir}/${name}`;
      CONTAINERS[name]!(path);
      const bytes = await Deno.readFile(`${dir}/${file}`);
      const at = new TextDecoder("latin1").decode(bytes).indexOf("text 7");
      bytes[at + 5] = 0xff; // invalid in UTF-8
      await Deno.writeFile(`${dir}/${file}`, bytes);
      const flags = values ? ["--values", "--json"] : ["--json"];
      const check = async (...indices: number[]) => {
        const subset = `${dir}/i.txt`;
        await Deno.writeTextFile(subset, indices.join("\n"));
        const args = ["check", ...flags, "--subset", subset, path];
        const { code, stdout } = await recordfs(args);
        return { ...JSON.parse(stdout), exit: code };
      };
      const without = await check(1, 6, 8);
      assert.deepEqual([without.exit, without.damaged], [0, 0], name);
      const { exit, damaged, samples, of, damage } = await check(6, 7);
      assert.deepEqual([exit, damaged, samples, of], [1, 1, 2, 10], name);
      assert.deepEqual(damage.map((one: { code: string }) => one.code), [code]);
      const whole = await recordfs(["check", ...flags, path]);
      if (name !== "columns") assert.equal(whole.code, 1); // MDS is not decoded
    });
  }
});

Deno.test("check --subset decodes the pictures of the samples in a tar", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/web.tar`;
    const members = Array.from({ length: 10 }, (_, i) => [
      { name: `s${i}.png`, data: `no picture ${i}` },
      { name: `s${i}.cls`, data: "1" },
    ]);
    await Deno.writeFile(path, tarBytes(members.flat()));
    await Deno.writeTextFile(`${dir}/i.txt`, "3\n5\n");
    const args = ["--values", "--json", "--subset", `${dir}/i.txt`, path];
    const { code, stdout } = await recordfs(["check", ...args]);
    const { damage, pictures } = JSON.parse(stdout);
    assert.deepEqual(
      damage.map(({ member }: { member: string }) => member),
      ["s3.png", "s5.png"],
    );
    assert.deepEqual([code, pictures], [1, 2]);
  }));
