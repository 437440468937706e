/** Several containers, and parts of them, in the commands that show a tree. */
import assert from "node:assert/strict";
import { assertFailed, recordfs, run } from "../run_cli.ts";
import { datasetCase } from "../../support/bags/bag_golden.ts";
import { goldenCase } from "../../support/golden.ts";
import { withTempDir } from "../../support/paths.ts";

const packed = goldenCase("ffrecord/packed_tree").path;
const dataset = datasetCase("granular/lists").path;

/** Runs a command, which must succeed, and returns its output. */
async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await recordfs(args);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

Deno.test("ls, tree, stat and cat show containers that --add names, each in a directory", async () => {
  const add = ["--add", `${dataset}=train/b`];
  assert.equal(await succeed("ls", packed, ...add), "sample_10\ntrain\n");
  assert.equal(
    await succeed("ls", packed, "sample_10/words", ...add),
    await succeed("ls", packed, "words"),
  );
  const placed = ["--add", dataset, `${packed}=x/y`, "x/y/..."];
  const content = await recordfs(["cat", ...placed]);
  const alone = await recordfs(["cat", packed, "..."]);
  assert.deepEqual(content.bytes, alone.bytes);
  assert.equal(content.bytes.length, 28);
  assert.match(await succeed("tree", "-L", "2", packed, ...add), /└── b\n/);
  const [stat] = JSON.parse(
    await succeed("stat", "--json", packed, "train", ...add),
  );
  assert.equal(stat.type, "directory");
});

Deno.test("extract writes several containers below one directory, and parts of them", async () => {
  await withTempDir(async (dir) => {
    await succeed("extract", packed, `${dir}/a/p`);
    await succeed("extract", dataset, `${dir}/a/d/e`);
    const several = ["--add", `${dataset}=d/e`, `${packed}=p`];
    await succeed("extract", ...several, `${dir}/b`);
    const same = await run(["diff", "-r", `${dir}/a`, `${dir}/b`]);
    assert.deepEqual([same.stdout, same.code], ["", 0]);
    await succeed("extract", ...several, "--prefix=d/e/000001", `${dir}/c`);
    const part = await run(["diff", "-r", `${dir}/a/d/e/000001`, `${dir}/c`]);
    assert.deepEqual([part.stdout, part.code], ["", 0]);
  });
});

Deno.test("info shows facts of the whole, and of each container", async () => {
  const one = JSON.parse(await succeed("info", "--json", packed));
  const two = JSON.parse(await succeed("info", "--json", dataset));
  const args = ["info", packed, "--add", dataset];
  const all = JSON.parse(await succeed(...args, "--json"));
  assert.equal(all.files, one.files + two.files);
  assert.equal(all.directories, one.directories + two.directories + 2);
  assert.equal(all.bytes, one.bytes + two.bytes);
  const { source: _one, ...packedInfo } = one;
  const { source: _two, ...datasetInfo } = two;
  assert.deepEqual(all.containers, [
    { location: packed, path: "sample_10", info: packedInfo },
    { location: dataset, path: "data", info: datasetInfo },
  ]);
  const text = await succeed(...args);
  assert.match(text, /kind: 2 containers\n/);
  assert.match(text, /container: data\/ \(.*granular\/lists\/data, bags, /);
});

Deno.test("a prefix is the root of what commands show", async () => {
  assert.equal(
    await succeed("ls", "--prefix", "/words/", packed),
    await succeed("ls", packed, "words"),
  );
  const missing = await recordfs(["ls", "--prefix=none", packed]);
  assertFailed(missing, 1, /Cannot open 'none' in .*sample_10\.ffr/);
});

Deno.test("containers that cannot be in one tree are a usage error", async () => {
  const fails = async (code: number, words: RegExp, ...args: string[]) =>
    assertFailed(await recordfs(args), code, words);
  await fails(
    2,
    /Cannot show both .* in 'sample_10'/,
    "ls",
    packed,
    "--add",
    packed,
  );
  await fails(
    2,
    /is inside .*sample_10\.ffr in 'a'/,
    ...["info", `${packed}=a`, "--add", `${dataset}=a/b`],
  );
  await fails(2, /equals sign is empty/, "ls", packed, `--add=${dataset}=`);
  await fails(2, /path of the container is empty/, "ls", packed, "--add=");
  await fails(1, /none\.ffr/, "ls", packed, "--add", "none.ffr");
});
