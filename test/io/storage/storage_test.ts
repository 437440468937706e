import assert from "node:assert/strict";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../src/io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import { withTempDir } from "../../support/paths.ts";
import { slowStorage } from "../../support/slow_storage.ts";

/** Runs a procedure synchronously and asynchronously, and asserts that the results are equal. */
async function both<T>(steps: () => Steps<T>): Promise<T> {
  const now = runSync(steps());
  assert.deepEqual(await runAsync(steps()), now);
  return now;
}

async function bothRefuse(
  steps: () => Steps<unknown>,
  expected: { code: string; message: RegExp },
): Promise<void> {
  const check = (error: unknown) =>
    error instanceof RecordfsError && error.code === expected.code &&
    expected.message.test(error.message);
  assert.throws(() => runSync(steps()), check);
  await assert.rejects(runAsync(steps()), check);
}

Deno.test("the local disk identifies a file or directory by its inode", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, "12345");
    fs.utimesSync(`${dir}/a`, 0, 1234.5);
    fs.mkdirSync(`${dir}/below`);
    fs.symlinkSync("a", `${dir}/link`);
    const file = await both(() => LOCAL_DISK.stat(`${dir}/a`));
    assert.deepEqual(file, {
      isDirectory: false,
      size: 5,
      mtime: 1234500,
      id: fs.statSync(`${dir}/a`).ino,
    });
    assert.deepEqual(await both(() => LOCAL_DISK.stat(`${dir}/link`)), file);
    const below = (await both(() => LOCAL_DISK.stat(`${dir}/below`)))!;
    assert.deepEqual(
      [below.isDirectory, below.size, below.id],
      [true, 0, fs.statSync(`${dir}/below`).ino],
    );
    for (const path of [`${dir}/b`, `${dir}/a/b`]) {
      assert.equal(await both(() => LOCAL_DISK.stat(path)), undefined);
    }
    fs.symlinkSync("self", `${dir}/self`);
    await bothRefuse(() => LOCAL_DISK.stat(`${dir}/self`), {
      code: "ELOOP",
      message: /^Cannot open .*\/self: too many symbolic links$/,
    });
  });
});

Deno.test("the local disk lists directories, and rejects other paths", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/below`);
    for (const name of ["c", "a", "b"]) fs.writeFileSync(`${dir}/${name}`, "");
    const names = (await both(() => LOCAL_DISK.list(dir)))!;
    assert.deepEqual(names.toSorted(), ["a", "b", "below", "c"]);
    assert.deepEqual(await both(() => LOCAL_DISK.list(`${dir}/below`)), []);
    assert.equal(await both(() => LOCAL_DISK.list(`${dir}/a`)), undefined);
    await bothRefuse(() => LOCAL_DISK.list(`${dir}/none`), {
      code: "ENOENT",
      message: /there is no such file or directory/,
    });
  });
});

Deno.test("the local disk opens only files", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, "12345");
    for (
      const source of [
        runSync(LOCAL_DISK.open(`${dir}/a`)),
        await runAsync(LOCAL_DISK.open(`${dir}/a`)),
      ]
    ) {
      assert.deepEqual([source.name, source.size], [`${dir}/a`, 5]);
      const into = new Uint8Array(3);
      assert.equal(source.readAtSync!(into, 1), 3);
      assert.equal(new TextDecoder().decode(into), "234");
      source.close();
    }
    await bothRefuse(() => LOCAL_DISK.open(dir), {
      code: "not-a-file",
      message: /it is not a regular file/,
    });
    await bothRefuse(() => LOCAL_DISK.open(`${dir}/none`), {
      code: "ENOENT",
      message: /there is no such file or directory/,
    });
    fs.appendFileSync(`${dir}/a`, "6");
    const growing = runSync(LOCAL_DISK.open(`${dir}/a`, { mayGrow: true }));
    fs.appendFileSync(`${dir}/a`, "7");
    assert.equal(growing.size, 6);
    assert.equal(await growing.readAt(new Uint8Array(2), 4), 2);
    growing.close();
  });
});

Deno.test("a slow storage rejects synchronous access, and replies out of order", async () => {
  await withTempDir(async (dir) => {
    const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
    fs.writeFileSync(`${dir}/a`, bytes);
    const storage = slowStorage(1);
    for (
      const steps of [
        () => storage.open(`${dir}/a`),
        () => storage.list(dir),
        () => storage.stat(`${dir}/a`),
      ]
    ) {
      assert.throws(() => runSync<unknown>(steps()), { code: "must-wait" });
    }
    assert.deepEqual(await runAsync(storage.list(dir)), ["a"]);
    assert.equal((await runAsync(storage.stat(`${dir}/a`)))?.size, 100);
    await assert.rejects(runAsync(storage.open(`${dir}/b`)), {
      code: "ENOENT",
    });

    const source = await runAsync(storage.open(`${dir}/a`));
    assert.equal(source.readAtSync, undefined);
    assert.equal(source.readCached, undefined);
    const ended: number[] = [];
    await Promise.all(Array.from(bytes, async (byte) => {
      const into = new Uint8Array(1);
      assert.equal(await source.readAt(into, byte), 1);
      assert.equal(into[0], byte);
      ended.push(byte);
    }));
    assert.notDeepEqual(ended, [...bytes]);
    assert.deepEqual(ended.toSorted((a, b) => a - b), [...bytes]);

    const abort = new AbortController();
    const reading = source.readAt(new Uint8Array(1), 0, abort);
    abort.abort(new Error("enough"));
    await assert.rejects(reading, /enough/);
    source.close();
  });
});
