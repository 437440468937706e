/** Hostile lists: false counts and sizes, invalid elements, and lists without elements. */
import assert from "node:assert/strict";
import { checked } from "../../../support/checked.ts";
import { Buffer } from "node:buffer";
import { open } from "../../../../src/open/open.ts";
import { read } from "../../../support/mds/refused.ts";
import {
  datasetOf,
  entryOf,
  type MadeColumn,
  shardOf,
} from "../../../support/mds/make_mds.ts";

const NAME = "shard.00000.mds";

/** Lists by encoding, words, number of bytes after the words, and error message. */
const LISTS: readonly (readonly [string, number[], number, RegExp])[] = [
  ["list[jpeg]", [], 0, /truncated before the number/],
  ["list[jpeg]", [0], 3, /truncated before the number/],
  ["jpeg_array", [], 3, /truncated before the number/],
  ["list[png]", [0, 0xffffffff], 0, /4294967295 elements, but is too short/],
  ["jpegarray", [0xffffffff, 1], 1, /4294967295 elements, but is too short/],
  ["list[pil]", [0, 2, 1], 3, /2 elements, but is too short/],
  ["list[jpeg]", [0, 2, 1, 0xffffffff], 2, /give 4294967312/],
  ["list[png]", [0, 2, 1, 2], 2, /18 bytes, .* give 19/],
  ["jpeg_array", [2, 1, 0], 2, /14 bytes, .* give 13/],
  ["list[jpeg]", [7, 0], 1, /9 bytes, .* give 8/],
  ["jpeg_array", [0], 5, /9 bytes, .* give 4/],
];

/** Returns a dataset of one sample with a list of these words, followed by zero bytes. */
function listDataset(encoding: string, words: number[], more: number) {
  const columns: readonly MadeColumn[] = [["v", encoding, null]];
  const bytes = Buffer.concat([
    new Uint8Array(Uint32Array.from(words).buffer),
    Buffer.alloc(more),
  ]);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  const shard = shardOf([Buffer.concat([head, bytes])], columns);
  return datasetOf([entryOf(NAME, shard.length, 1, columns)], {
    [NAME]: shard,
  });
}

Deno.test("lists with false counts and sizes are rejected by readers, as directories, and by check", async () => {
  for (const [encoding, words, more, message] of LISTS) {
    const storage = listDataset(encoding, words, more);
    const refused = { code: "bad-value", sample: 0, message };
    await assert.rejects(read(storage, [0]), refused);
    using fs = await open("d", { storage });
    assert.ok((await fs.stat("000000/v")).isDirectory);
    await assert.rejects(fs.list("000000/v"), refused);
    await assert.rejects(fs.stat("000000/v/000000.jpg"), refused);
    const { damages } = await checked("d", { storage });
    assert.equal(damages.length, 1);
    assert.throws(() => {
      throw damages[0];
    }, refused);
  }
});

Deno.test("lists without elements are empty, also those that the original writes but cannot read", async () => {
  for (
    const [encoding, words] of [
      ["list[jpeg]", [0, 0]],
      ["list[pil]", [0xffffffff, 0]],
      ["jpeg_array", [0]],
    ] as const
  ) {
    const storage = listDataset(encoding, [...words], 0);
    const [sample] = await read(storage, [0]);
    assert.deepEqual(sample!["v"], []);
    using fs = await open("d", { storage });
    assert.deepEqual(await fs.list("000000/v"), []);
    assert.deepEqual((await checked("d", { storage })).damages, []);
  }
});

Deno.test("an invalid element is rejected alone", async () => {
  const storage = listDataset("list[pil]", [0, 2, 13, 4, 1, 0, 1], 5);
  await assert.rejects(read(storage, [0]), { code: "bad-value" });
  using fs = await open("d", { storage });
  assert.equal((await fs.list("000000/v")).length, 2);
  for (const name of ["000000.npy", "000001.npy"]) {
    await assert.rejects(fs.read(`000000/v/${name}`), {
      code: "bad-value",
      sample: 0,
      message: /decode 'v' of sample 0 /,
    });
  }
  const jpegs = listDataset("list[jpeg]", [0, 2, 0, 3], 3);
  await assert.rejects(read(jpegs, [0]), { code: "bad-value", sample: 0 });
  using shown = await open("d", { storage: jpegs });
  assert.equal((await shown.read("000000/v/000000.jpg")).length, 0);
  assert.equal((await shown.read("000000/v/000001.jpg")).length, 3);
});

Deno.test("a list of more elements than a directory shows is read only by MDSReader", async () => {
  const count = (1 << 20) + 1;
  const words = [0, count, ...new Uint32Array(count)];
  const storage = listDataset("list[pil]", words, 0);
  using fs = await open("d", { storage });
  await assert.rejects(fs.list("000000/v"), {
    code: "too-large",
    message: /1048577 elements, more than the limit of 1048576/,
  });
  assert.deepEqual((await checked("d", { storage })).damages, []);
});
