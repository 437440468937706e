/** Decoded records next to other containers, in directories, as extracted files, and over HTTP. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FormatError } from "../../../../src/base/errors.ts";
import { open } from "../../../../src/open/open.ts";
import { served } from "../../../support/serve/served_folder.ts";
import { withTempDir } from "../../../support/paths.ts";
import { exampleOf, fileOf } from "../../../support/tfrecord/make_tfrecord.ts";
import { recordfs } from "../../../cli/run_cli.ts";
import { tfrecordCase } from "../../../support/tfrecord/tfrecord_golden.ts";

Deno.test("a list of many values is listed, and its values are found by their numbers", async () => {
  const values = Array.from({ length: 70_000 }, (_, i) => `${i}`);
  const bytes = fileOf([
    exampleOf({ many: values, one: ["1"], two: ["a", "b"] }),
  ]);
  using fs = await open(new Uint8Array(bytes), { decoded: true });
  assert.equal((await fs.list("000000/many")).length, 70_000);
  const last = await fs.read("000000/many/069999");
  assert.equal(String(Buffer.from(last)), "69999");
  assert.equal(String(Buffer.from(await fs.read("000000/two/000001"))), "b");
  assert.ok(!await fs.exists("000000/many/070000"));
});

Deno.test("a server sends no record with a wrong checksum", async () => {
  const large = Buffer.alloc(3 << 20, 5);
  const bytes = fileOf(["right", "wrong", large, large]);
  bytes[21 + 12]! ^= 1;
  bytes[bytes.length - 100]! ^= 1;
  await using server = served(await open(new Uint8Array(bytes)));
  for (const [i, isRight] of [true, false, true, false].entries()) {
    // A large whole file is a stream, which ends early; a part is verified before it is sent.
    const headers = { range: "bytes=1-4" };
    const answer = await server.get(`files/00000${i}`, { headers });
    assert.equal(answer.status, isRight ? 206 : 500);
    await answer.body?.cancel();
  }
  const whole = await server.get("files/000002");
  assert.ok(large.equals(Buffer.from(await whole.arrayBuffer())));
  await using decoded = served(
    await open(tfrecordCase("examples").path, { decoded: true }),
  );
  const label = await decoded.get("files/000003/image/class/label.json");
  assert.equal(await label.text(), "[3]\n");
});

Deno.test("a record that is not an example does not prevent walking, listing and extracting others", () =>
  withTempDir(async (dir) => {
    const good = exampleOf({ one: ["1"] });
    const path = `${dir}/mixed.tfrecord`;
    await Deno.writeFile(path, fileOf([good, "none", good]));
    using fs = await open(path, { decoded: true });
    const told: string[] = [];
    const names: string[] = [];
    const onDamage = (_: FormatError, at: string) => void told.push(at);
    for await (const entry of fs.walk("", { onDamage })) names.push(entry.path);
    assert.deepEqual(told, ["000001"]);
    const expected = ["000000", "000000/one", "000001", "000002", "000002/one"];
    assert.deepEqual(names, expected);
    assert.deepEqual(
      [...fs.walkSync("", { onDamage })].map(({ path }) => path),
      expected,
    );
    await assert.rejects(Array.fromAsync(fs.walk("")), FormatError);

    const listed = await recordfs(["ls", "-R", "--decoded", path]);
    assert.equal(listed.code, 1);
    assert.deepEqual(listed.stdout.trimEnd().split("\n"), expected);
    assert.match(listed.stderr, /record 1 /);
    const out = `${dir}/out`;
    const extracted = await recordfs(["extract", "--decoded", path, out]);
    assert.equal(extracted.code, 1);
    assert.match(
      extracted.stderr,
      /record 1 .*\n.*1 file or directory was not/,
    );
    assert.equal(await Deno.readTextFile(`${out}/000000/one`), "1");
    assert.equal(await Deno.readTextFile(`${out}/000002/one`), "1");
  }));
