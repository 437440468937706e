/** `recordfs bag create`: invalid inputs and targets, and what a failure leaves behind. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { filesBelow } from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";
import { assertFailed, recordfs, succeed } from "../../run_cli.ts";

const SPEC = '{"n": "int", "tags": "utf8[]"}';
const GOOD = '{"n": 1, "tags": ["x"]}';

Deno.test("an invalid line is named, with its key; in generations 1 and 2 nothing is written", async () => {
  await withTempDir(async (dir) => {
    const cases: [string, RegExp][] = [
      ['{"n": 1.5, "tags": []}', /'n', of type 'int': .*not 1\.5/],
      ['{"n": 1, "tags": ["x", 7]}', /'tags\[1\]', of type 'utf8'/],
      ['{"n": 1, "tags": "x"}', /'tags'.*'utf8\[\]', so the value must be an/],
      ['{"n": 1}', /it has no 'tags'/],
      ['{"n": 1, "tags": [], "more": 2}', /the spec has no 'more'/],
      ['{"n": 1, "tags": [""]}', /tags\.bag.*empty/],
      ['{"n": {"$file": "nowhere"}, "tags": []}', /nowhere: there is no such/],
      ['{"n": {"$file": 1}, "tags": []}', /must name the path of a file/],
      ['{"n": {"$bytes": "?"}, "tags": []}', /'n', of type 'int'/],
      ["[1]", /it is not an object/],
      ['{"n": ', /it is not JSON/],
      ['{"n": "\xff"}', /it is not JSON: its text is not UTF-8/],
      ["", /it is empty/],
    ];
    fs.mkdirSync(`${dir}/out`);
    for (const [i, [line, words]] of cases.entries()) {
      const lines = `${dir}/lines`;
      fs.writeFileSync(lines, `${GOOD}\n${line}\n`, "latin1");
      // Both ways of staging: a dataset by its writer, and shards by the command.
      const shards = i % 2 === 0 ? [] : ["--shard-length", "1"];
      const ran = await recordfs([
        ...["bag", "create", `${dir}/out/a`, lines, "--spec", SPEC],
        ...["--generation", "2", ...shards],
      ]);
      assertFailed(ran, 1, words);
      assert.match(ran.stderr, /lines, line 2: /);
      assert.doesNotMatch(ran.stderr, /\.part/);
      assert.deepEqual(fs.readdirSync(`${dir}/out`), []);
    }
  });
});

Deno.test("an error in the first line leaves nothing, and another spec may follow", async () => {
  await withTempDir(async (dir) => {
    const wrong = `${dir}/wrong`;
    fs.writeFileSync(wrong, '{"n": "one"}\n{"n": 2}\n');
    const cases = ["1", "2", "3"].flatMap((generation) =>
      [[], ["--shard-length", "1"]].map((shards) => [
        ...["--generation", generation, ...shards],
      ])
    );
    cases.push([...cases[1]!, "--shard-step", "2"]);
    cases.push([...cases[5]!, "--shard-step", "2"]);
    fs.mkdirSync(`${dir}/there`);
    for (const args of cases) {
      const create = (out: string, spec: string) =>
        recordfs(["bag", "create", out, wrong, "--spec", spec, ...args]);
      for (const out of [`${dir}/new/deep/out`, `${dir}/there`]) {
        assertFailed(await create(out, '{"n": "int"}'), 1, /line 1: .*'n'/);
        assert.equal(fs.existsSync(`${dir}/new`), false, args.join(" "));
        assert.deepEqual(fs.readdirSync(`${dir}/there`), []);
      }
    }
    const out = `${dir}/new/deep/out`;
    const other = ["--spec", '{"n": "msgpack"}'];
    await succeed(["bag", "create", out, wrong, ...other]);
    assert.ok(fs.existsSync(`${out}/spec.json`));
    // An existing dataset stays, even without datapoints.
    fs.writeFileSync(`${dir}/none`, "");
    await succeed(["bag", "create", `${dir}/empty`, `${dir}/none`, ...other]);
    const empty = filesBelow(`${dir}/empty`);
    fs.writeFileSync(wrong, "[]\n");
    const again = ["bag", "create", `${dir}/empty`, wrong, ...other];
    assertFailed(await recordfs(again), 1, /line 1: it is not an object/);
    assert.deepEqual(filesBelow(`${dir}/empty`), empty);
  });
});

Deno.test("an invalid directory is named, and nothing is written", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/out`);
    const put = (files: Record<string, string>) => {
      fs.rmSync(`${dir}/in`, { recursive: true, force: true });
      for (const [path, text] of Object.entries(files)) {
        fs.mkdirSync(dirname(`${dir}/in/${path}`), { recursive: true });
        fs.writeFileSync(`${dir}/in/${path}`, text);
      }
    };
    const good = { "000000/n": "1", "000000/tags/000000": "x" };
    const cases: [Record<string, string>, RegExp][] = [
      [{ ...good, "000002/n": "1" }, /numbered 000000, 000001, .* gap/],
      [{ ...good, "extra/n": "1" }, /extra: it is neither a datapoint/],
      [{ ...good, "000000/tags/000002": "x" }, /000000\/tags: of its 2 .* gap/],
      [
        { ...good, "000000/tags/y": "x" },
        /tags\/y: it is neither a datapoint nor a value/,
      ],
      [{ ...good, "000001/n": "1" }, /000001: .*it has no 'tags'/],
      [{ ...good, "000000/n.json": "1" }, /the spec has no 'n\.json'/],
      [
        { "000000/n/000000": "1" },
        /000000: its 'n' is a directory, and its type/,
      ],
      [{ "000000/n": "1", "000000/tags": "x" }, /tags.*must be directories/i],
      [{ "000000/n": "", "000000/tags/000000": "x" }, /000000: .*is empty/],
      [
        { "000001/000000/n": "1", "000000/spec.json": "{}" },
        /000000.* has 0|000000: /,
      ],
      [
        { "000000/spec.json": SPEC, "000002/spec.json": SPEC },
        /000001 is miss/,
      ],
    ];
    for (const [files, words] of cases) {
      put(files);
      const ran = await recordfs([
        ...["bag", "create", `${dir}/out/a`, `${dir}/in`, "--spec", SPEC],
        ...["--generation", "2"],
      ]);
      assertFailed(ran, 1, words);
      assert.deepEqual(fs.readdirSync(`${dir}/out`), []);
    }
  });
});

Deno.test("an existing target is not changed", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/lines`, '{"n": 1}\n');
    fs.mkdirSync(`${dir}/mine`);
    fs.writeFileSync(`${dir}/mine/notes`, "mine");
    fs.mkdirSync(`${dir}/shards/000000`, { recursive: true });
    fs.writeFileSync(`${dir}/shards/000000/spec.json`, "");
    const create = (out: string, ...args: string[]) =>
      recordfs([
        ...["bag", "create", `${dir}/${out}`, `${dir}/lines`],
        ...["--spec", '{"n": "int"}', ...args],
      ]);
    for (const generation of ["1", "3"]) {
      const of = ["--generation", generation];
      assertFailed(
        await create("mine", ...of),
        1,
        /mine: it (exists|has).* [Cc]hoose another name/,
      );
      const sharded = await create("mine", ...of, "--shard-length", "1");
      assertFailed(
        sharded,
        1,
        /mine: it (exists|has).* [Cc]hoose another name/,
      );
      assertFailed(
        await create("lines", ...of),
        1,
        /lines.* is not a directory\. Choose another name/,
      );
      assertFailed(
        await create("shards", ...of),
        1,
        /shards: it (exists|has)/,
      );
    }
    assert.deepEqual(fs.readdirSync(`${dir}/mine`), ["notes"]);
    assert.deepEqual(fs.readdirSync(`${dir}/shards`), ["000000"]);
    assert.equal(fs.readFileSync(`${dir}/lines`, "utf8"), '{"n": 1}\n');
    await succeed([
      ...["bag", "create", `${dir}/three`, `${dir}/lines`],
      ...["--spec", '{"n": "int"}'],
    ]);
    assertFailed(
      await create("three"),
      1,
      /three: it has 1 datapoint already\. Add the others with --resume/,
    );
    const other = ["--resume", "--spec", '{"m": "int"}'];
    assertFailed(await create("three", ...other), 1, /spec\.json has another/);
  });
});

Deno.test("an invalid command line has exit code 2", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/lines`, "");
    const given = ["out", "lines", "--spec", '{"n": "int"}'];
    const cases: [string[], RegExp][] = [
      [["out", "lines"], /--spec is missing/],
      [["out", "."], /--spec is missing/],
      [["out", "lines", "--spec", ""], /--spec is empty/],
      [["", ...given.slice(1)], /is empty/],
      [[...given, "--generation", "4"], /'4' is invalid/],
      [[...given, "--shard-size", "1 parsec"], /number of bytes/],
      [[...given, "--shard-size", "0"], /number of bytes/],
      [[...given, "--shard-length", "0"], /from 1 on/],
      [[...given, "--shard-start", "1"], /need --shard-size or/],
      [[...given, "--resume", "--generation", "2"], /needs generation 3/],
    ];
    for (const [args, words] of cases) {
      const ran = await recordfs(["bag", "create", ...args], { cwd: dir });
      assertFailed(ran, 2, words);
    }
    const specs: [string, RegExp][] = [
      ["{", /not JSON/],
      ['{"../n": "int"}', /names a path/],
      ['{"n": 1}', /must be a string/],
      ['{"N": "int"}', /"N" must start with/],
      ["nowhere", /nowhere: there is no such/],
      [".", /it is not a regular file/],
    ];
    for (const [spec, words] of specs) {
      const args = ["out", "lines", "--spec", spec];
      const ran = await recordfs(["bag", "create", ...args], { cwd: dir });
      assertFailed(ran, 1, words);
    }
    assert.deepEqual(fs.readdirSync(dir), ["lines"]);
  });
});

Deno.test({
  name:
    "a full disk ends it: generation 2 leaves nothing, generation 3 complete datapoints that can be resumed (needs root)",
  ...needs("root"),
  async fn() {
    await withTempDir(async (dir) => {
      const text = "x".repeat(1000);
      const lines = Array.from(
        { length: 6000 },
        (_, n) => `{"n": ${n}, "text": "${text}"}\n`,
      );
      fs.writeFileSync(`${dir}/lines`, lines.join(""));
      const create = (out: string, ...args: string[]) => [
        ...["bag", "create", out, `${dir}/lines`],
        ...["--spec", '{"n": "int", "text": "utf8"}', ...args],
      ];
      await succeed(create(`${dir}/whole`));
      await withTmpfs("4m", async (disk, remount) => {
        const two = create(`${disk}/a`, "--generation", "2");
        assertFailed(await recordfs(two), 1, /a\/text\.bag: the disk is full/);
        assert.deepEqual(fs.readdirSync(disk), []);
        const three = create(`${disk}/a`);
        assertFailed(
          await recordfs(three),
          1,
          /the disk is full.*\(.*a keeps the datapoints written so far; add the others with --resume/,
        );
        await succeed(["check", "--values", `${disk}/a`]);
        await remount("size=40m");
        await succeed([...three, "--resume"]);
        assert.deepEqual(filesBelow(`${disk}/a`), filesBelow(`${dir}/whole`));
      });
    });
  },
});
