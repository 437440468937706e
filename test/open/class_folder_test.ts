/** A local folder of images in class folders, as samples and as a dataset. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../src/data/loader/data_loader.ts";
import { openDataset } from "../../src/open/data/open_dataset.ts";
import { openSamples } from "../../src/open/samples/open_samples.ts";
import { openSamplesSync } from "../../src/open/open_sync.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";

const FILES = {
  "cat/a.jpg": JPEGS[0]!,
  "cat/more/b.jpg": JPEGS[1]!,
  "dog/a.jpg": JPEGS[2]!,
  "empty/.hidden.jpg": JPEGS[0]!,
};

function writeFiles(dir: string, files: Record<string, Uint8Array>): void {
  for (const [path, bytes] of Object.entries(files)) {
    const at = `${dir}/${path}`;
    fs.mkdirSync(at.slice(0, at.lastIndexOf("/")), { recursive: true });
    fs.writeFileSync(at, bytes);
  }
}

Deno.test("a folder of class folders yields images with labels and classes", () =>
  withTempDir(async (dir) => {
    writeFiles(dir, FILES);
    using samples = await openSamples<Record<string, unknown>>(dir);
    const stored = await samples.read([2, 0, 1]);
    assert.deepEqual(
      stored.map(({ path, label, class: number }) => [path, label, number]),
      [
        ["dog/a.jpg", "dog", 1],
        ["cat/a.jpg", "cat", 0],
        ["cat/more/b.jpg", "cat", 0],
      ],
    );
    assert.deepEqual(stored[0]!["content"], new Uint8Array(JPEGS[2]!));
    const { content } = await samples.get(0);
    assert.ok((content as { width: number }).width > 0);
    assert.deepEqual(await samples.get(1, { fields: ["class"] }), { class: 0 });
    assert.equal(samples.fileOf(2), `${dir}/dog/a.jpg`);
    using dogs = await openSamples(dir, { files: "dog/**" });
    assert.deepEqual([dogs.length, dogs.keyOf(0)], [1, "dog/a.jpg"]);
    assert.deepEqual(await dogs.get(0, { fields: ["class"] }), { class: 1 });
  }));

Deno.test("a loader's threads load a folder of class folders", () =>
  withTempDir(async (dir) => {
    writeFiles(dir, FILES);
    using dataset = await openDataset(dir, { fields: ["class", "path"] });
    await using loader = new DataLoader(dataset, {
      batchSize: 3,
      numWorkers: 2,
    });
    const batches = [];
    for await (const batch of loader) batches.push(batch as unknown);
    const [{ path }] = batches as [{ path: string[] }];
    assert.deepEqual(path, ["cat/a.jpg", "cat/more/b.jpg", "dog/a.jpg"]);
  }));

Deno.test("other folders remain unknown, and a folder that disappears is an error", () =>
  withTempDir(async (dir) => {
    const unknown = { code: "unknown-format" };
    writeFiles(`${dir}/texts`, { "a/b.txt": new Uint8Array(3) });
    await assert.rejects(openSamples(`${dir}/texts`), unknown);
    writeFiles(`${dir}/flat`, { "x/a.jpg": JPEGS[0]!, "b.jpg": JPEGS[0]! });
    await assert.rejects(openSamples(`${dir}/flat`), unknown);
    writeFiles(`${dir}/gone`, { "x/a.jpg": JPEGS[0]! });
    using samples = await openSamples(`${dir}/gone`);
    fs.rmSync(`${dir}/gone/x/a.jpg`);
    await assert.rejects(samples.read(0), { code: "ENOENT" });
    await assert.rejects(
      openSamples(`${dir}/gone`, { fields: ["none"] }),
      unknown,
    );
  }));

Deno.test({
  name: "a pipe among the images is rejected, and never waited for",
  ...needs("mkfifo"),
  fn: () =>
    withTempDir(async (dir) => {
      writeFiles(dir, { "x/a.jpg": JPEGS[0]! });
      await new Deno.Command("mkfifo", { args: [`${dir}/x/b.jpg`] }).output();
      using samples = await openSamples(dir);
      await assert.rejects(samples.read(1), { code: "not-a-file" });
      assert.equal(fs.existsSync(`${dir}/x/b.jpg`), true);
    }),
});

Deno.test("circular links and paths through a file are not folders, and the error says why", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/data`);
    fs.symlinkSync("index.json", `${dir}/data/index.json`);
    fs.writeFileSync(`${dir}/file`, "");
    const cases = [["data", "unknown-format"], ["file", "unknown-format"], [
      "file/",
      "ENOTDIR",
    ]] as const;
    for (const [path, code] of cases) {
      await assert.rejects(openSamples(`${dir}/${path}`), { code });
      assert.throws(() => openSamplesSync(`${dir}/${path}`), { code });
    }
    fs.rmSync(`${dir}/data`, { recursive: true });
    writeFiles(dir, FILES);
    fs.rmSync(`${dir}/file`);
    fs.symlinkSync("loop.jpg", `${dir}/dog/loop.jpg`);
    using samples = await openSamples<Record<string, unknown>>(dir);
    assert.equal(samples.length, 4);
    assert.equal((await samples.get(2))["path"], "dog/a.jpg");
    await assert.rejects(samples.get(3), /loop\.jpg/);
  }));
