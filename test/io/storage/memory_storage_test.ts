import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { readPart } from "../../../src/io/read/read_part.ts";

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);

const storage = new MemoryStorage({
  "train/0/a.ffr": bytes,
  "./train//b.ffr": new Blob([bytes.slice(0, 400), bytes.slice(400)]),
  "top": new Uint8Array(0),
});

Deno.test("names in memory are listed like a tree of directories", () => {
  const list = (path: string) => runSync(storage.list(path))?.toSorted();
  for (const root of ["", ".", "/", "./train/.."]) {
    assert.deepEqual(list(root), ["top", "train"]);
  }
  for (const train of ["train", "/train/", "train/0/.."]) {
    assert.deepEqual(list(train), ["0", "b.ffr"]);
  }
  assert.deepEqual(list("train/0"), ["a.ffr"]);
  assert.equal(list("train/b.ffr"), undefined);
  for (const path of ["tra", "train/0/a", "train/b.ffr/c"]) {
    assert.throws(() => list(path), { code: "ENOENT", path });
  }
});

Deno.test("contents in memory are identified by a stable number", () => {
  const stat = (path: string) => runSync(storage.stat(path));
  const a = stat("train/0/a.ffr")!;
  const b = stat("train/b.ffr")!;
  assert.deepEqual([a.isDirectory, a.size], [false, 1000]);
  assert.deepEqual([b.isDirectory, b.size], [false, 1000]);
  assert.deepEqual(stat("/train/./0/a.ffr"), a);
  const all = ["", "top", "train", "train/0", "train/b.ffr", "train/0/a.ffr"];
  const ids = all.map((path) => stat(path)!.id);
  assert.equal(new Set(ids).size, all.length);
  assert.deepEqual(all.map((path) => stat(`/${path}`)!.id), ids);
  assert.deepEqual([stat("train")!.isDirectory, stat("train")!.size], [
    true,
    0,
  ]);
  assert.equal(stat(".")!.isDirectory, true);
  assert.equal(stat("train/0/b"), undefined);
});

Deno.test("bytes in memory are available synchronously, those of a Blob are not", async () => {
  for (const path of ["train/0/a.ffr", "train/b.ffr"]) {
    const source = runSync(storage.open(path));
    assert.deepEqual([source.name, source.size], [path, 1000]);
    await fc.assert(fc.asyncProperty(
      fc.nat(1000),
      fc.nat(1000),
      async (offset, length) => {
        const into = new Uint8Array(length);
        const expected = bytes.subarray(offset, offset + length);
        assert.equal(await source.readAt(into, offset), expected.length);
        assert.deepEqual(into.subarray(0, expected.length), expected);
      },
    ));
    source.close();
  }
  const memory = runSync(storage.open("train/0/a.ffr"));
  assert.deepEqual(runSync(readPart(memory, 990, 10)), bytes.slice(990));
  const blob = runSync(storage.open("train/b.ffr"));
  assert.throws(() => runSync(readPart(blob, 0, 1)), { code: "must-wait" });
  assert.deepEqual(
    await runAsync(readPart(blob, 395, 10)),
    bytes.slice(395, 405),
  );
  const abort = AbortSignal.abort(new Error("enough"));
  await assert.rejects(
    blob.readAt(new Uint8Array(1), 0, { signal: abort }),
    /enough/,
  );
});

Deno.test("directories and missing entries in memory cannot be opened", () => {
  const open = (path: string) => () => runSync(storage.open(path));
  for (const path of ["train", "train/0/", "."]) {
    assert.throws(open(path), { code: "not-a-file", path });
  }
  for (const path of ["b.ffr", "train/0/a.ffr/x"]) {
    assert.throws(open(path), { code: "ENOENT", path });
  }
});
