/** A command that runs in the tests' process does, says and returns what it does as a process. */
import assert from "node:assert/strict";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { filesBelow } from "../support/bags/naive_bags.ts";
import { goldenCase } from "../support/golden.ts";
import { withTempDir } from "../support/paths.ts";
import { recordfs, recordfsProcess } from "./run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");
const { path: dataset } = datasetCase("granular2/types");

/** Lines of each kind: what is printed, bytes, faults, what is wrong, help; and floods, which are kept count of. */
const LINES: string[][] = [
  ["ls", "-lR", packed],
  ["ls", "-R", "--json", "--decoded", dataset],
  ["tree", packed],
  ["info", dataset],
  ["cat", dataset, "spec.json"],
  ["cat", packed, "nothing"],
  ["check", packed],
  ["check", "/nowhere"],
  ["ls", "--no-such-option", packed],
  ["ls"],
  ["bag", "create", "--help"],
  ["completions", "bash"],
  ["gulp", "no-such-adapter"],
  ["unmount", "/nowhere"],
  ["unmount", "--no-such-option", "/"],
];

Deno.test("a command in this process behaves as in its own", async () => {
  for (const line of LINES) {
    const process = await recordfsProcess(line);
    // Twice: nothing is left of the first run.
    assert.deepEqual(await recordfs(line), process, line.join(" "));
    assert.deepEqual(await recordfs(line), process, line.join(" "));
  }
});

Deno.test("files that it writes are those of a process", async () => {
  await withTempDir(async (dir) => {
    const line = (to: string) => ["extract", packed, `${dir}/${to}`];
    assert.equal((await recordfsProcess(line("process"))).code, 0);
    assert.equal((await recordfs(line("here"))).code, 0);
    const files = filesBelow(`${dir}/process`);
    assert.ok(files.size > 5);
    assert.deepEqual(filesBelow(`${dir}/here`), files);
  });
});

Deno.test("it sees the given variables, only in this thread and while it runs", async () => {
  await withTempDir(async (dir) => {
    const env = { RECORDFS_DEBUG: "1", XDG_RUNTIME_DIR: dir };
    const line = ["ls", "/nowhere"];
    const { stderr } = await recordfs(line, { env });
    assert.match(stderr, /\bat .*:\d+:\d+/);
    assert.doesNotMatch((await recordfs(line)).stderr, /\bat .*:\d+:\d+/);
  });
});

Deno.test("two at a time are rejected, since they would write to each other's output", async () => {
  const first = recordfs(["ls", packed]);
  await assert.rejects(recordfs(["ls", packed]), /only processes can run/);
  assert.equal((await first).code, 0);
});
