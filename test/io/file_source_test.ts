import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError } from "../../src/errors.ts";
import { FileSource } from "../../src/io/file_source.ts";
import { runAsync, runSync } from "../../src/io/steps.ts";
import { descriptorsBelow } from "../support/descriptors.ts";
import { withTempDir } from "../support/paths.ts";

Deno.test("reads end where the file ends", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, "0123456789");
    const source = await runAsync(FileSource.open(`${dir}/a`));
    const into = new Uint8Array(4);
    assert.equal(await source.readAt(into, 8), 2);
    assert.deepEqual([...into.subarray(0, 2)], [0x38, 0x39]);
    assert.equal(source.readAtSync(into, 10), 0);
    assert.equal(source.readAtSync(into, 3), 4);
    assert.equal(source.size, 10);
    source.close();
  });
});

Deno.test("a file replaced behind its descriptor is not read as the old one", async () => {
  await withTempDir((dir) => {
    fs.writeFileSync(`${dir}/a`, "old");
    const source = runSync(FileSource.open(`${dir}/a`));
    fs.writeFileSync(`${dir}/b`, "new");
    fs.renameSync(`${dir}/b`, `${dir}/a`);
    const into = new Uint8Array(3);
    source.readAtSync(into, 0); // its descriptor still is the old file
    assert.equal(new TextDecoder().decode(into), "old");
    // So many others that the descriptor is closed, and the path has to be opened again.
    const others = Array.from({ length: 200 }, (_, i) => {
      fs.writeFileSync(`${dir}/other${i}`, "x");
      return runSync(FileSource.open(`${dir}/other${i}`));
    });
    assert.throws(
      () => source.readAtSync(into, 0),
      (error) => error instanceof FormatError && error.code === "changed",
    );
    for (const other of [source, ...others]) other.close();
  });
});

Deno.test("closing waits for reads that are under way", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, new Uint8Array(1 << 24).fill(7));
    const source = runSync(FileSource.open(`${dir}/a`));
    const into = new Uint8Array(1 << 24);
    const reading = source.readAt(into, 0);
    source.close();
    assert.equal(await reading, 1 << 24);
    assert.ok(into.every((byte) => byte === 7));
    await assert.rejects(source.readAt(into, 0), /has been closed/);
  });
});

Deno.test("many reads at once leave no more descriptors open than the pool keeps", async () => {
  await withTempDir(async (dir) => {
    const sources = Array.from({ length: 400 }, (_, i) => {
      fs.writeFileSync(`${dir}/${i}`, "x");
      return runSync(FileSource.open(`${dir}/${i}`));
    });
    await Promise.all(
      sources.map((source) => source.readAt(new Uint8Array(1), 0)),
    );
    const open = await descriptorsBelow(dir);
    assert.ok(open <= 128, `${open} descriptors`);
    for (const source of sources) source.close();
  });
});
