/** Files that lead elsewhere, count what they have not, or are damaged. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { hdf5Case } from "../../../support/hdf5/hdf5_golden.ts";

const quiet = { onWarning() {} };

Deno.test("what refers to other files, or is not supported, is refused by name and never followed", async () => {
  const { path, unreadable } = hdf5Case("hostile");
  await withTempDir(async (dir) => {
    // The files that it refers to are there.
    fs.copyFileSync(path, `${dir}/a.h5`);
    fs.copyFileSync(hdf5Case("rows").path, `${dir}/other.h5`);
    using shown = await open(`${dir}/a.h5`, quiet);
    for (const [name, reason] of Object.entries(unreadable!)) {
      await assert.rejects(shown.read(name), (error: unknown) => {
        assert.ok(error instanceof FormatError, `${error}`);
        assert.ok(error.message.includes(reason), error.message);
        return true;
      });
    }
    assert.equal((await shown.read("sound.npy")).length, 128 + 16);
    const { damaged } = await check(`${dir}/a.h5`, quiet);
    assert.equal(damaged, Object.keys(unreadable!).length);
  });
});

Deno.test("soft links and hard links that make a circle end", async () => {
  using shown = await open(hdf5Case("hostile").path, quiet);
  const paths = await Array.fromAsync(shown.walk(""), ({ path }) => path);
  assert.equal((await shown.stat("up/up/up/sound.npy")).size, 128 + 16);
  assert.ok(paths.includes("group"), `${paths}`);
  assert.ok(!paths.some((path) => path.startsWith("group/")), `${paths}`);
});

/** Opens a container and reads all of it; returns what it throws. */
async function readAll(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  using shown = await open({ "a.h5": bytes }["a.h5"]!, {
    ...quiet,
    format: "hdf5",
  });
  for await (const entry of shown.walk("")) {
    if (entry.isFile) await shown.read(entry.path);
  }
}

Deno.test("a cut file is refused", async () => {
  const whole = fs.readFileSync(hdf5Case("small").path);
  for (let length = 0; length < whole.length; length += 997) {
    await assert.rejects(readAll(whole.slice(0, length)), FormatError);
  }
});

Deno.test("a changed byte leads to values or a FormatError, and other files are read as before", async () => {
  for (const name of ["small", "groups", "types"]) {
    const whole = fs.readFileSync(hdf5Case(name).path);
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 30)) {
      const changed = whole.slice();
      changed[at]! ^= 1 << at % 8;
      try {
        await readAll(changed);
      } catch (error) {
        assert.ok(error instanceof FormatError, `${name} ${at}: ${error}`);
      }
    }
  }
  using after = await open(hdf5Case("rows").path, quiet);
  assert.ok(after.info.files > 0);
});

Deno.test("a heap in which the library would go on for ever is refused", async () => {
  const whole = new Uint8Array(fs.readFileSync(hdf5Case("rows").path));
  const heap = new TextDecoder("latin1").decode(whole).indexOf("GCOL") + 16;
  assert.ok(heap > 16);
  // Free space of no size, and an object whose size does not fit 32 bits.
  for (const [index, size] of [[0, 0n], [1, 0xff_ffff_fff0n]] as const) {
    const bytes = whole.slice();
    const view = new DataView(bytes.buffer);
    view.setUint16(heap, index, true);
    view.setBigUint64(heap + 8, size, true);
    using shown = await open(bytes, { ...quiet, format: "hdf5" });
    await assert.rejects(shown.read("words.json"), FormatError);
    assert.ok((await shown.read("labels.npy")).length > 0);
  }
});

Deno.test("a file without datasets is empty", async () => {
  using shown = await open(hdf5Case("empty").path, quiet);
  assert.deepEqual([await shown.list("/"), shown.info.kind], [[], "arrays"]);
});
