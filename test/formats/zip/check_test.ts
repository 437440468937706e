/** Checks of zips, and conversions to and from them. */
import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import * as fs from "node:fs";
import { convert } from "../../../src/open/convert/convert.ts";
import { check, open } from "../../../src/open/open.ts";
import { output } from "../../fuse/support/mounting.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { makeZip } from "../../support/zip/make_zip.ts";
import { zipCase } from "../../support/zip/zip_golden.ts";

Deno.test("a check finds and reports each damaged member", async () => {
  const data = "deflated ".repeat(500);
  const wrong = { crc: 5 };
  const zip = makeZip([
    { name: "crc", data, method: 8, local: wrong, central: wrong },
    { name: "stored", data, local: wrong, central: wrong },
    { name: "size", data, method: 8, local: { size: 9 }, central: { size: 9 } },
    { name: "header", data, local: { name: "hidden" } },
    { name: "right", data, method: 8 },
  ]);
  const { samples, bytes, damaged, damages, done } = await checked(zip);
  assert.deepEqual([samples, bytes, damaged], [5, zip.length, 4]);
  assert.deepEqual(
    damages.map(({ code, message }) => [code, /'(\w+)'/.exec(message)![1]]),
    [
      ["sample-checksum", "crc"],
      ["sample-checksum", "stored"],
      ["bad-structure", "size"],
      ["bad-structure", "header"],
    ],
  );
  assert.equal(done.at(-1), bytes);
});

Deno.test("a member that overlaps the one before it is found, however its header hides it", async () => {
  const zip = makeZip([{ name: "a", data: "12345678901234567890" }, {
    name: "b",
    data: "b",
  }]);
  // The first content begins later than the central directory indicates.
  zip.writeUInt16LE(20, 28);
  const { damages } = await checked(zip);
  assert.match(
    damages.join("\n"),
    /'b' in .*: it overlaps the content before it/,
  );
});

Deno.test(
  "any zip becomes a stored one with the same files, readable by others",
  {
    ...needs("unzip", "python3"),
  },
  () =>
    withTempDir(async (dir) => {
      const { path } = zipCase("python");
      const target = `${dir}/new.zip`;
      const { count, plan } = await convert(path, target, { lossy: true });
      assert.equal(count, 6);
      assert.match(plan.to, /zip/);
      const tested = await output("unzip", "-t", target);
      assert.equal(tested.code, 0, tested.stdout + tested.stderr);
      const code =
        "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; " +
        "assert all(i.compress_type == 0 for i in z.infolist()); print(*z.namelist(), sep='\\n')";
      const names = await output(PYTHON, "-c", code, target);
      using before = await open(path);
      using after = await open(target);
      const listed: string[] = [];
      for await (const { path, isFile } of before.walk("")) {
        listed.push(isFile ? path : `${path}/`);
        if (!isFile) continue;
        assert.deepEqual(await after.read(path), await before.read(path));
      }
      assert.deepEqual(
        names.stdout.trimEnd().split("\n").sort(),
        listed.sort(),
      );
      const onDamage = (damage: Error) => assert.fail(damage);
      assert.equal((await check(target, { onDamage })).damaged, 0);
    }),
);

Deno.test(
  "a folder becomes a zip, with large files piece by piece",
  {
    ...needs("unzip", "python3"),
  },
  () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/in/many`, { recursive: true });
      const large = new Uint8Array(3_000_000).map((_, i) => i * 7 >> 3);
      fs.writeFileSync(`${dir}/in/large.bin`, large);
      for (let i = 0; i < 40; i++) {
        fs.writeFileSync(`${dir}/in/many/${i}`, `${i}`);
      }
      const { count } = await convert(`${dir}/in`, `${dir}/a.zip`, {
        lossy: true,
      });
      assert.equal(count, 41);
      const copy = await output(
        "unzip",
        "-q",
        `${dir}/a.zip`,
        "-d",
        `${dir}/out`,
      );
      assert.equal(copy.code, 0, copy.stderr);
      const compared = await output("diff", "-r", `${dir}/in`, `${dir}/out`);
      assert.deepEqual(compared, { code: 0, stdout: "", stderr: "" });
      assert.deepEqual(fs.readdirSync(dir).sort(), ["a.zip", "in", "out"]);
    }),
);
