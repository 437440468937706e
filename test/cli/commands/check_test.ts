import assert from "node:assert/strict";
import { goldenCase, goldenCases } from "../../support/golden.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI, recordfs, run, succeed } from "../run_cli.ts";

const flipped = goldenCase("ffrecord/bad_flip_sample");

Deno.test("check finds nothing in sound containers", async () => {
  for (const name of ["packed_tree", "parts_dump", "plain_zero"]) {
    const { path } = goldenCase(`ffrecord/${name}`);
    const { stdout } = await succeed(["check", path]);
    assert.match(stdout, /all sound\n$/);
  }
});

Deno.test("check names every damaged sample", async () => {
  const bad = flipped.content.samples.flatMap(({ error }, i) =>
    error ? [i] : []
  );
  const text = await recordfs(["check", flipped.path]);
  assert.equal(text.code, 1);
  for (const sample of bad) {
    assert.match(text.stdout, new RegExp(`^damaged: .*sample ${sample}:`, "m"));
  }
  const json = await recordfs(["check", "--json", flipped.path]);
  assert.deepEqual([json.stderr, json.code], ["", 1]);
  const report = JSON.parse(json.stdout);
  assert.equal(report.ok, false);
  assert.equal(report.samples, flipped.content.n);
  assert.deepEqual(
    report.damage.map(({ sample, code }: Record<string, unknown>) => ({
      sample,
      code,
    })),
    bad.map((sample) => ({ sample, code: "sample-checksum" })),
  );
});

Deno.test("check --json of a sound container", async () => {
  const { path } = goldenCase("ffrecord/packed_tree");
  const { size } = await Deno.stat(path);
  const { stdout } = await succeed(["check", "--json", path]);
  const { ok, bytes, damage } = JSON.parse(stdout);
  assert.deepEqual({ ok, bytes, damage }, {
    ok: true,
    bytes: size,
    damage: [],
  });
});

Deno.test("check says why a container cannot be opened", async () => {
  const { path, expected } = goldenCase("ffrecord/bad_flip_n_low");
  const json = await recordfs(["check", "--json", path]);
  assert.equal(json.code, 1);
  assert.match(json.stderr, /^recordfs: .*metadata.*\n$/);
  const { ok, error } = JSON.parse(json.stdout);
  assert.deepEqual([ok, error.code], [false, expected.class]);
});

Deno.test("no hostile container brings out a stack trace", async () => {
  const hostile = goldenCases("ffrecord").filter(({ name }) =>
    /\/hostile_(attribute|cycle|system_p4|traversal|wide_reuse)$/.test(name)
  );
  assert.equal(hostile.length, 5);
  for (const { name, path } of hostile) {
    const { code, stderr } = await recordfs(["ls", path]);
    assert.match(stderr, /^(recordfs: [^\n]+\n)+$/, name);
    assert.doesNotMatch(stderr, /should not happen/, name);
    assert.equal(code, 1, name);
  }
});

Deno.test({
  name: "check shows progress on a terminal only (needs script)",
  ...needs("script"),
  async fn() {
    const command =
      `'${Deno.execPath()}' run -A '${CLI}' check '${flipped.path}'`;
    const terminal = await run(["script", "-qec", command, "/dev/null"]);
    assert.match(terminal.stdout, /checking .*100%.*[kM]?B\/s/s);
    assert.equal((await recordfs(["check", flipped.path])).stderr, "");
  },
});

Deno.test("check --json of a damaged header has its count as text", async () => {
  const damaged = goldenCase("ffrecord/bad_count_2e60_wraps");
  const { stdout, code } = await recordfs(["check", "--json", damaged.path]);
  assert.equal(code, 1);
  assert.equal(JSON.parse(stdout).error.actual, String(2n ** 60n));
});
