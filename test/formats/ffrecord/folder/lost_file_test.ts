/** Packed folders with a file damaged at its start: one file a folder, or one folder in several files. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { PackedFolder } from "../../../../src/formats/ffrecord/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";

function damage(path: string): void {
  const bytes = fs.readFileSync(path);
  bytes.fill(0xfe, 0, 12);
  fs.writeFileSync(path, bytes);
}

const files = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [name, new TextEncoder().encode(name)]),
  );

Deno.test("of folders packed in a file each, the undamaged ones are shown", async () => {
  for (const left of ["a", "b"]) {
    await withTempDir(async (dir) => {
      for (const name of ["a", "b"]) {
        const bytes = ffrBytes(packedSamples(files("x", "y")));
        fs.writeFileSync(`${dir}/${name}.ffr`, bytes);
      }
      const lost = left === "a" ? "b" : "a";
      damage(`${dir}/${lost}.ffr`);
      const warnings: string[] = [];
      using container = await open(dir, {
        onWarning: (message) => warnings.push(message),
      });
      assert.deepEqual(await container.list(), [left]);
      assert.equal(
        new TextDecoder().decode(await container.read(`${left}/y`)),
        "y",
      );
      assert.match(warnings.join(), RegExp(`${lost}\\.ffr.* is skipped`));
    });
  }
});

Deno.test("a folder in several files needs all of them", async () => {
  const samples = packedSamples(files("x", "y", "z"));
  for (const lost of [0, 1]) {
    await withTempDir(async (dir) => {
      fs.writeFileSync(`${dir}/0.ffr`, ffrBytes(samples.slice(0, 2)));
      fs.writeFileSync(`${dir}/1.ffr`, ffrBytes(samples.slice(2)));
      using sound = await open(dir);
      assert.deepEqual(await sound.list(), ["x", "y", "z"]);
      damage(`${dir}/${lost}.ffr`);
      const onWarning = () => {};
      const isIt = { name: "FormatError", path: `${dir}/${lost}.ffr` };
      if (lost === 0) await assert.rejects(open(dir, { onWarning }), isIt);
      await assert.rejects(
        open(dir, { onWarning, format: "ffrecord-packed" }),
        lost === 0 ? isIt : { name: "FormatError" },
      );
      await assert.rejects(
        PackedFolder.open(dir, { onWarning }),
        lost === 0 ? isIt : { name: "FormatError" },
      );
    });
  }
});
