/** A command in the tests' process has the same effects, output and exit code as in its own process. */
import assert from "node:assert/strict";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { filesBelow } from "../support/bags/naive_bags.ts";
import { goldenCase } from "../support/golden.ts";
import { withTempDir } from "../support/paths.ts";
import { recordfs, recordfsProcess } from "./run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");
const { path: dataset } = datasetCase("granular2/types");

/** Command lines with all kinds of output: text, bytes, errors, usage errors, help, and rate-limited warnings. */
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
    // Twice, to show that the first run leaves nothing behind.
    assert.deepEqual(await recordfs(line), process, line.join(" "));
    assert.deepEqual(await recordfs(line), process, line.join(" "));
  }
});

Deno.test("a command in this process writes the same files as in its own", async () => {
  await withTempDir(async (dir) => {
    const line = (to: string) => ["extract", packed, `${dir}/${to}`];
    assert.equal((await recordfsProcess(line("process"))).code, 0);
    assert.equal((await recordfs(line("here"))).code, 0);
    const files = filesBelow(`${dir}/process`);
    assert.ok(files.size > 5);
    assert.deepEqual(filesBelow(`${dir}/here`), files);
  });
});

Deno.test("a command in this process sees the given variables, only in its thread and while it runs", async () => {
  await withTempDir(async (dir) => {
    const env = { RECORDFS_DEBUG: "1", XDG_RUNTIME_DIR: dir };
    const line = ["ls", "/nowhere"];
    const { stderr } = await recordfs(line, { env });
    assert.match(stderr, /\bat .*:\d+:\d+/);
    assert.doesNotMatch((await recordfs(line)).stderr, /\bat .*:\d+:\d+/);
  });
});

Deno.test("two commands at a time are rejected, since they would write to each other's output", async () => {
  const first = recordfs(["ls", packed]);
  await assert.rejects(recordfs(["ls", packed]), /only processes can run/);
  assert.equal((await first).code, 0);
});
