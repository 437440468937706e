/** Trees of listed files reject invalid lists. */
import assert from "node:assert/strict";
import { MemorySource } from "../../src/io/storage/memory_source.ts";
import { listedTree } from "../../src/tree/listed_tree.ts";
import { newExtent, newStat, ROOT } from "../../src/tree/tree.ts";

const source = () => new MemorySource(new Uint8Array(10), "a.box");
type ListedFile = Parameters<typeof listedTree>[1][number];

const file = (name: string, offset = 0, length = 1): ListedFile => ({
  name,
  offset,
  length,
});

Deno.test("an invalid list is rejected, and the fault reported", () => {
  const lists: Record<string, readonly ListedFile[]> = {
    "'a' is out of bounds": [file("a", 10, 1)],
    "'b' is out of bounds": [file("a"), file("b", -1, 1)],
    "'c' is out of bounds": [file("c", 0, NaN)],
    "'d' is out of bounds": [file("d", 2 ** 60, 2 ** 60)],
    "(dots)": [file("..")],
    "(slash)": [file("a/b")],
    "(nul)": [file("a\0")],
    "(empty)": [file("")],
    "(long)": [file("x".repeat(1025))],
    "(twice)": [file("a"), file("b"), file("a")],
  };
  for (const [why, list] of Object.entries(lists)) {
    assert.throws(
      () => listedTree(source(), list),
      ({ code, message, path }) =>
        code === "bad-index" && path === "a.box" && message.includes(why) &&
        message.startsWith("Cannot read a.box: "),
      why,
    );
  }
});

Deno.test("contents have checksums if all have one, and none otherwise", () => {
  const files = [{ ...file("b", 2, 3), crc32: 7 }, file("a", 0, 2)];
  const some = listedTree(source(), files);
  const all = listedTree(source(), files.slice(0, 1));
  const extent = newExtent();
  assert.ok(some.locate(ROOT + 1, extent));
  assert.deepEqual([extent.offset, extent.length, extent.checksumKind], [
    2,
    3,
    undefined,
  ]);
  assert.ok(all.locate(ROOT + 1, extent));
  assert.deepEqual([extent.checksumKind, extent.checksum], ["crc32", 7]);
  assert.equal(all.locate(ROOT, extent), false);
  assert.equal(all.locate(ROOT + 2, extent), false);
  const stat = newStat();
  assert.ok(some.stat(ROOT + 2, stat));
  assert.equal(stat.size, 2);
  assert.equal([...some.samples!().runs][0]!.count, 2);
  assert.deepEqual(listedTree(source(), []).samples!().runs, []);
});
