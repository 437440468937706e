import assert from "node:assert/strict";
import { goldenCase, sha256 } from "../../support/golden.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { assertFailed, CLI, recordfs, runBash, succeed } from "../run_cli.ts";

const tree = goldenCase("ffrecord/packed_tree");
const flipped = goldenCase("ffrecord/bad_flip_sample");

Deno.test("cat writes the exact bytes of files, in the given order", async () => {
  const files = tree.content.entries.filter(({ type }) => type === "file");
  for (const { path, size, sha256: expected } of files.slice(0, 6)) {
    const { bytes } = await succeed(["cat", tree.path, "--", path]);
    assert.equal(bytes.length, size);
    assert.equal(sha256(bytes), expected, path);
  }
  const [a, b] = [files[1]!, files[2]!];
  const both = await succeed(["cat", tree.path, "--", b.path, a.path]);
  assert.equal(sha256(both.bytes.subarray(0, b.size)), b.sha256);
  assert.equal(sha256(both.bytes.subarray(b.size)), a.sha256);
});

Deno.test({
  name: "cat finds names that are not UTF-8 (needs bash)",
  ...needs("bash"),
  async fn() {
    const { path, content } = goldenCase("ffrecord/packed_not_utf8_names");
    const latin1 = content.entries.find(({ path }) =>
      path === "latin1-\udce9"
    )!;
    // Deno cannot pass such an argument; a shell can.
    const script = `exec "$0" run -A "$1" cat "$2" $'latin1-\\xe9'`;
    const ran = await runBash(script, [Deno.execPath(), CLI, path]);
    assert.deepEqual([ran.stderr, ran.code], ["", 0]);
    assert.equal(sha256(ran.bytes), latin1.sha256);
  },
});

Deno.test("cat streams a file larger than a chunk", async () => {
  await withTempDir(async (dir) => {
    const sample = new Uint8Array(5_000_000).map((_, i) => i * 7 >> 3);
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes([sample]));
    const { bytes } = await succeed(["cat", `${dir}/a.ffr`, "000000"]);
    assert.equal(sha256(bytes), sha256(sample));
  });
});

Deno.test("cat fails on a damaged or missing file, and continues with the others", async () => {
  const bad = flipped.content.samples.findIndex(({ error }) => error);
  const damaged = String(bad).padStart(6, "0");
  const good = flipped.content.samples[0]!;
  const one = await recordfs(["cat", flipped.path, damaged]);
  assertFailed(one, 1, new RegExp(`read '${damaged}' .*: checksum mismatch`));
  const two = await recordfs(["cat", flipped.path, "nope", "000000"]);
  assertFailed(two, 1, /'nope'.*no such file/);
  assert.equal(sha256(two.bytes), good.sha256);
});

Deno.test("cat --no-verify reads a damaged file unchanged", async () => {
  const bad = flipped.content.samples.findIndex(({ error }) => error);
  const damaged = String(bad).padStart(6, "0");
  await succeed(["cat", "--no-verify", flipped.path, damaged]);
});

Deno.test("cat refuses a directory", async () => {
  assertFailed(
    await recordfs(["cat", tree.path, "words"]),
    1,
    /'words'.*directory/,
  );
});
