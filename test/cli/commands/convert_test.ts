import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { writeImages } from "../../support/gulp/gulp_content.ts";
import { datapointsOf } from "../../support/converted.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { CLI, type Ran, recordfs, succeed } from "../run_cli.ts";

const GOLDEN = `${REPOSITORY}test/golden`;
const LISTS = `${GOLDEN}/granular2/lists/data`;
const PACKED = `${GOLDEN}/ffrecord/packed_tree/sample_10.ffr`;

Deno.test("the plan is printed to standard error, and the result to standard output", async () => {
  await withTempDir(async (dir) => {
    const { code, stdout, stderr } = await recordfs(
      ["convert", LISTS, `${dir}/out`, "--to", "bags", "--shard-length", "10"],
    );
    assert.equal(code, 0);
    assert.equal(stdout, `${dir}/out: 25 datapoints\n`);
    assert.match(
      stderr,
      /^recordfs: Bags, generation 2 becomes Bags, generation 3$/m,
    );
    assert.match(
      stderr,
      /^recordfs: +changed: 'bar': utf8\[\] becomes msgpack/m,
    );
    assert.deepEqual(readdirSync(`${dir}/out`).sort(), [
      "000000",
      "000001",
      "000002",
    ]);
  });
});

Deno.test("a report in JSON", async () => {
  await withTempDir(async (dir) => {
    const { stdout, stderr } = await succeed(
      ["convert", PACKED, `${dir}/out/`, "--json"],
    );
    const { plan, ...report } = JSON.parse(stdout);
    assert.deepEqual(report, {
      path: `${dir}/out/`,
      unit: "files",
      count: 44,
      leftOut: 0,
      warnings: [],
    });
    assert.deepEqual([plan.lost, plan.to], [[], "a folder"]);
    assert.equal(stderr, "");
  });
});

Deno.test("losses have exit code 1, unless --lossy allows them", async () => {
  await withTempDir(async (dir) => {
    const args = ["convert", PACKED, `${dir}/out.bag`];
    const refused = await recordfs([...args, "--json"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /losing the names of files .*--lossy/);
    const said = JSON.parse(refused.stdout);
    assert.equal(said.refused, "would-lose");
    assert.deepEqual(said.losses, said.plan.lost);
    assert.equal(existsSync(`${dir}/out.bag`), false);
    const { stdout } = await recordfs([
      ...args,
      "--lossy",
      "--generation",
      "1",
    ]);
    assert.equal(stdout, `${dir}/out.bag: 44 samples\n`);
  });
});

Deno.test("--spec names a file with the types of files", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/in/000000`, { recursive: true });
    await Deno.writeTextFile(`${dir}/in/000000/x`, "text");
    await Deno.writeTextFile(`${dir}/spec.json`, '{"x": "utf8"}');
    const args = ["convert", `${dir}/in`, `${dir}/out`, "--to", "bags"];
    await recordfs([...args, "--spec", `${dir}/spec.json`]);
    assert.deepEqual(datapointsOf(`${dir}/out`), [{ x: "text" }]);
    // Text that starts with a brace is JSON instead of a path.
    await recordfs(
      ["convert", `${dir}/in`, `${dir}/json`, "--to", "bags"].concat(
        ["--spec", ' {"x": "bytes"}'],
      ),
    );
    assert.match(await Deno.readTextFile(`${dir}/json/spec.json`), /"bytes"/);
    await Deno.writeTextFile(`${dir}/{}`, '{"x": "msgpack"}');
    const named = [`${dir}/in`, `${dir}/named`, "--to", "bags"];
    await recordfs(["convert", ...named, "--spec", "./{}"], { cwd: dir });
    assert.match(
      await Deno.readTextFile(`${dir}/named/spec.json`),
      /"msgpack"/,
    );
    for (const spec of ["{x: 1}", '{"x": 1}', '{"../x": "utf8"}']) {
      const { code, stderr } = await recordfs([...args, "--spec", spec]);
      assert.equal(code, 1);
      assert.match(stderr, /^recordfs: Cannot read --spec: /m);
    }
    for (const spec of [`${dir}/in/000000/x`, `${dir}/none`]) {
      const { code, stderr } = await recordfs([...args, "--spec", spec]);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`${spec}`));
      assert.doesNotMatch(stderr, /should not happen|\n.*\n/);
    }
  });
});

/** Returns a function that runs `recordfs` in a directory, where it must succeed. */
function doneIn(cwd: string): (...args: string[]) => Promise<Ran> {
  return async (...args) => {
    const ran = await recordfs(args, { cwd });
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
}

Deno.test("what gulp wrote becomes Bags as the README prints it, and comes back", async () => {
  await withTempDir(async (dir) => {
    const done = doneIn(dir);
    writeImages(`${dir}/images`, ["dog", "cat"], 2);
    await done("gulp", "image-folder", "images/", "gulp/");
    const labels = await Deno.readFile(`${dir}/gulp/label2idx.json`);
    await done(
      "convert",
      "gulp/",
      "clips",
      "--to",
      "bags",
      "--generation",
      "2",
    );
    assert.deepEqual(
      await Deno.readFile(`${dir}/clips/label2idx.json`),
      labels,
    );
    const { stdout } = await done("convert", "clips", "again", "--to", "gulp");
    assert.equal(stdout, "again: 4 videos\n");
    for await (const { name } of Deno.readDir(`${dir}/gulp`)) {
      assert.deepEqual(
        await Deno.readFile(`${dir}/again/${name}`),
        await Deno.readFile(`${dir}/gulp/${name}`),
        name,
      );
    }
    assert.equal((await done("check", "clips")).code, 0);
    assert.match((await done("ls", "clips")).stdout, /^spec\.json$/m);
  });
});

Deno.test("parts and chunks are converted by the command line as well", async () => {
  await withTempDir(async (dir) => {
    const done = doneIn(dir);
    writeImages(dir, ["images"], 5);
    await done("gulp", "image-folder", dir, "gulp", "--videos-per-chunk", "2");
    const chunk = await done("convert", "gulp/data_1.gulp", "chunk/");
    assert.equal(chunk.stdout, "chunk/: 4 files\n");
    assert.match(chunk.stderr, /a chunk of GulpIO becomes a folder/);
    await Deno.writeTextFile(`${dir}/spec.json`, '{"image": "jpg"}');
    await done(
      "write",
      "one.ffr",
      "images/0.jpg",
      "images/1.jpg",
      "images/2.jpg",
    );
    await done(
      "convert",
      "one.ffr",
      "parts",
      "--to",
      "ffrecord-samples",
      "--parts",
      "2",
    );
    const spec = ["--spec", "spec.json"];
    const bags = await done(
      "convert",
      "parts",
      "bags",
      "--to",
      "bags",
      ...spec,
    );
    assert.equal(bags.stdout, "bags: 3 samples\n");
    assert.match(bags.stderr, /^recordfs: FFRecord samples becomes Bags/);
    assert.equal(datapointsOf(`${dir}/bags`).length, 3);
    const { code, stderr } = await recordfs([
      "convert",
      "parts",
      "out/",
      "--to",
      "bag",
    ], { cwd: dir });
    assert.deepEqual([code, stderr], [
      2,
      "recordfs: Cannot write out/: the name of a bag must end in .bag\n",
    ]);
  });
});

Deno.test("--force replaces a target, and leaves alone what it may not replace", async () => {
  await withTempDir(async (dir) => {
    const args = ["convert", LISTS, `${dir}/out`, "--to", "bags"];
    await recordfs([...args, "--generation", "1"]);
    const refused = await recordfs(args);
    assert.match(
      refused.stderr,
      /not empty\. Replace it with --force, if it holds only such/,
    );
    assert.equal(refused.code, 1);
    assert.ok(existsSync(`${dir}/out/refs.bag`));
    const { code, stdout } = await recordfs([...args, "--force"]);
    assert.deepEqual([stdout, code], [`${dir}/out: 25 datapoints\n`, 0]);
    assert.equal(existsSync(`${dir}/out/refs.bag`), false);
    await Deno.writeTextFile(`${dir}/out/mine.txt`, "mine");
    const kept = await recordfs([...args, "--force"]);
    assert.match(kept.stderr, /it is not only a dataset.*mine\.txt$/m);
    assert.equal(kept.code, 1);
    assert.deepEqual(readdirSync(dir), ["out"]);
  });
});

/** Invalid command lines. */
const USAGE: [args: string[], words: RegExp][] = [
  [[LISTS, "OUT"], /does not give the target format/],
  [[LISTS, "OUT", "--to", "rar"], /'rar' is invalid/],
  [
    [LISTS, "OUT/", "--parts", "2"],
    /target folder does not support --parts/,
  ],
  [[LISTS, "OUT", "--to", "bags", "--shard-size", "0"], /from 1 on/],
  [[LISTS, "OUT", "--to", "bags", "--generation", "4"], /'4' is invalid/],
  [[LISTS, ""], /is empty/],
  [[LISTS], /missing required argument 'target'/],
  [
    [LISTS, "OUT.zip", "--to", "tar"],
    /must end in \.tar\. For shards, give --shard-length or --shard-size/,
  ],
  [[LISTS, "OUT", "--to", "bag"], /must end in \.bag/],
];

Deno.test("an invalid command line has exit code 2", async (t) => {
  await withTempDir(async (dir) => {
    for (const [args, words] of USAGE) {
      await t.step(args.join(" "), async () => {
        const given = args.map((arg) => arg.replace(/^OUT/, `${dir}/out`));
        const { code, stderr } = await recordfs(["convert", ...given]);
        assert.equal(code, 2, stderr);
        assert.match(stderr, words);
        assert.deepEqual(readdirSync(dir), []);
      });
    }
  });
});

for (const signal of ["SIGINT", "SIGKILL"] as const) {
  Deno.test(`${signal} leaves no partial target`, async () => {
    await withTempDir(async (dir) => {
      const x = new Uint8Array(2000).fill(1);
      const datapoints = Array.from({ length: 40_000 }, () => ({ x }));
      writeDataset(`${dir}/in`, { x: "bytes" }, datapoints, 3);
      const convert = async () => {
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", CLI, "convert", `${dir}/in`, `${dir}/out/`],
          stdout: "null",
          stderr: "piped",
        }).spawn();
        while (readdirSync(dir).length === 1) { // until it writes
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        send(child.pid, signal);
        return await child.output();
      };
      let { code, stderr } = await convert();
      for (let again = 0; code === 0 && again < 20; again++) { // it ended before the signal
        rmSync(`${dir}/out`, { recursive: true });
        ({ code, stderr } = await convert());
      }
      const interrupted = signal === "SIGINT";
      assert.equal(
        code,
        interrupted ? 130 : 137,
        new TextDecoder().decode(stderr),
      );
      const left = readdirSync(dir).filter((name) => name !== "in");
      // A killed process cannot remove its hidden partial file.
      assert.match(
        left.join("\n"),
        interrupted ? /^$/ : /^\.out\.recordfs-\d+-\d+\.part$/,
      );
      const small = `${REPOSITORY}test/golden/granular3/one_datapoint/data`;
      const { code: again } = await recordfs(["convert", small, `${dir}/out/`]);
      assert.equal(again, 0);
      assert.deepEqual(readdirSync(dir).sort(), ["in", "out"]);
    });
  });
}
