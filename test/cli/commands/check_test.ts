import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../src/open/open.ts";
import { goldenCase, goldenCases } from "../../support/golden.ts";
import { needs } from "../../support/programs/programs.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { CLI, recordfs, run, succeed } from "../run_cli.ts";

const flipped = goldenCase("ffrecord/bad_flip_sample");

Deno.test("check finds nothing in undamaged containers", async () => {
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
    assert.match(
      text.stdout,
      new RegExp(`^damaged: .*sample ${sample} of .*:`, "m"),
    );
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

Deno.test("check of a packed folder names the file, also as JSON", () =>
  withTempDir(async (dir) => {
    const bytes = packed({ d: { "one.txt": "1", "two.txt": "second" } });
    const text = new TextDecoder("latin1").decode(bytes);
    bytes[text.indexOf("second")]! ^= 1;
    const path = `${dir}/x.ffr`;
    fs.writeFileSync(path, bytes);
    const told = await recordfs(["check", path]);
    assert.equal(told.code, 1);
    assert.match(
      told.stdout,
      /read 'd\/two\.txt' \(sample 1\) of .*: checksum mismatch/,
    );
    const json = await recordfs(["check", "--json", path]);
    const [{ member, sample, message }] = JSON.parse(json.stdout).damage;
    assert.deepEqual([member, sample], ["d/two.txt", 1]);
    assert.match(message, /'d\/two\.txt'/);
  }));

Deno.test("only compared contents are called sound", async () => {
  const last = async (...args: string[]) =>
    (await succeed(["check", ...args])).stdout.replace(/^.* bytes, /, "");
  for (const format of ["ffrecord", "zip", "tfrecord", "parquet"]) {
    const sound = goldenCases(format).find(({ name }) =>
      name === "ffrecord/packed_tree" ||
      !/ffrecord|bad|hostile|refused/.test(name)
    )!;
    assert.equal(await last(sound.path), "all sound\n", sound.path);
  }
  const without =
    "structure sound; contents have no checksums, but --values decodes them\n";
  for (
    const path of [
      "test/golden/tar/webdataset/pairs.tar",
      "test/golden/gulp/v1_appended/gulp",
    ]
  ) assert.equal(await last(REPOSITORY + path), without);
});

Deno.test("check --values decodes the pictures of every format", () =>
  withTempDir(async (dir) => {
    const gulp = `${REPOSITORY}test/golden/gulp/v1_appended/gulp`;
    using frames = await open(gulp);
    const [video] = await frames.list("");
    const [frame] = await frames.list(video!);
    const sound = await frames.read(`${video}/${frame}`);
    const cut = sound.slice(0, sound.length >> 1);
    cut.fill(0, 20);
    const members = [
      { name: "sound.jpg", data: sound },
      { name: "damaged.JPEG", data: cut },
      { name: "damaged.png", data: "no picture" },
      { name: "text.txt", data: "no picture either" },
    ];
    fs.writeFileSync(`${dir}/t.tar`, tarBytes(members));
    const convert = ["convert", `${dir}/t.tar`, `${dir}/t.zip`];
    assert.equal((await recordfs(convert)).code, 0);
    for (const path of [`${dir}/t.tar`, `${dir}/t.zip`]) {
      assert.equal((await recordfs(["check", path])).code, 0);
      const { code, stdout } = await recordfs(["check", "--values", path]);
      assert.equal(code, 1);
      assert.match(stdout, /Cannot decode 'damaged\.JPEG' of /);
      assert.match(stdout, /Cannot decode 'damaged\.png' of /);
      assert.match(stdout, /2 damaged\n$/);
      assert.doesNotMatch(stdout, /sound\.jpg|text\.txt/);
    }
    const { stdout } = await succeed(["check", "--values", gulp]);
    assert.match(stdout, /structure sound, 9 pictures decoded\n$/);
  }));

Deno.test("check --json of an undamaged container", async () => {
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

Deno.test("check reports why a container cannot be opened", async () => {
  const { path, expected } = goldenCase("ffrecord/bad_flip_n_low");
  const json = await recordfs(["check", "--json", path]);
  assert.equal(json.code, 1);
  assert.match(json.stderr, /^recordfs: .*metadata.*\n$/);
  const { ok, error } = JSON.parse(json.stdout);
  assert.deepEqual([ok, error.code], [false, expected.class]);
});

Deno.test("no hostile container causes a stack trace", async () => {
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
