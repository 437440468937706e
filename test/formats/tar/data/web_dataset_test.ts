/** WebDataset samples: grouping, values of files, and loading. */
import assert from "node:assert/strict";
import { imageCodec } from "../../../../src/codecs/image/mod.ts";
import { readLabels } from "../../../../src/open/data/read_labels.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import { assertPortable } from "../../../data/support/in_thread.ts";
import { type Member, tarBytes } from "../../../support/tar/make_tar.ts";
import {
  openWeb,
  openWebDataset,
  type WebSample,
} from "../../../support/tar/open_web.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

const PAIRS = tarCase("webdataset").path;
const SHARDS = tarCase("shards").path;

/** Asserts that a sample equals the one made by the generator of the golden files. */
function assertSample(sample: WebSample | undefined, i: number, key: string) {
  assert.ok(sample !== undefined);
  const { __key__, cls, txt, npy, bin, ...rest } = sample;
  assert.equal(__key__, key);
  assert.equal(cls, i);
  assert.equal(txt, `text of ${i}\n`);
  assert.deepEqual(rest, { "meta.json": { i, half: i / 2 } });
  assert.deepEqual(npy, {
    dtype: "<f4",
    shape: [2],
    data: Float32Array.of(i, i + 0.5),
  });
  assert.deepEqual(bin, new Uint8Array(i).fill(i));
}

function keyOf(i: number): string {
  return String(i).padStart(3, "0");
}

Deno.test("samples are decoded by their extensions", async () => {
  using dataset = await openWebDataset(PAIRS);
  assert.equal(dataset.length, 12);
  const samples = await dataset.get([11, 0, 5, 5]);
  for (const [at, i] of [11, 0, 5, 5].entries()) {
    assertSample(samples[at], i, `train/${keyOf(i)}`);
  }
  assert.equal(dataset.fileOf(3), PAIRS);
});

Deno.test("shards are one dataset: in a directory, and by a pattern", async () => {
  for (const location of [SHARDS, `${SHARDS}/train-{000000..000002}.tar`]) {
    using dataset = await openWebDataset(location);
    assert.equal(dataset.length, 15);
    const all = await dataset.get(Array.from({ length: 15 }, (_, i) => i));
    all.forEach((sample, i) => assertSample(sample, i, keyOf(i)));
    assert.equal(dataset.fileOf(14), `${SHARDS}/train-000002.tar`);
  }
  using part = await openWebDataset(`${SHARDS}/train-{000001..000002}.tar`);
  assertSample((await part.get([0]))[0], 5, "005");
  await assert.rejects(
    openWebDataset(`${SHARDS}/train-{000001..000003}.tar`),
    /train-000003\.tar/,
  );
  using backwards = await openWebDataset(
    `${SHARDS}/train-{000002..000001}.tar`,
  );
  assertSample((await backwards.get([0]))[0], 10, "010");
});

Deno.test("files with one key are a sample; the key ends at the first dot of the last name", async () => {
  const members: Member[] = [
    { name: "./a.b/x.seg.png.txt", data: "1" },
    { name: "a.b/x.cls", data: " -7\n" },
    { name: "a.b/x", data: "no extension" },
    { name: "a.b/.hidden.txt", data: "no key" },
    { name: "a.b/y.cls", data: "99999999999999999999" },
    { name: "a.b/y.TXT", data: "capitals" },
    { name: "c/y.txt", data: "another directory" },
    { name: "c/y.id", data: "1_000" },
    { name: "a.b/x.txt", data: "not a neighbour" },
    { name: "a.b/x.json", data: "[9007199254740993, NaN, -0.0, 1.5]" },
    { name: "c/z.", data: "no extension behind the dot" },
    { name: "__meta__/z.txt", data: "meta data" },
  ];
  const storage = new MemoryStorage({ "t.tar": tarBytes(members) });
  const onWarning = () => {};
  using dataset = await openWebDataset("t.tar", { storage, onWarning });
  assert.equal(dataset.length, 4);
  const samples = await dataset.get([0, 1, 2, 3]);
  assert.deepEqual(samples.map((sample) => ({ ...sample })), [
    {
      __key__: "./a.b/x",
      "seg.png.txt": "1",
      cls: -7,
      txt: "not a neighbour",
      json: [9007199254740993n, NaN, -0, 1.5],
    },
    { __key__: "a.b/y", cls: 99999999999999999999n, TXT: "capitals" },
    { __key__: "c/y", txt: "another directory", id: 1000 },
    {
      __key__: "c/z",
      "": new TextEncoder().encode("no extension behind the dot"),
    },
  ]);
});

Deno.test("class and count are bytes, as in webdataset 1.0.2", async () => {
  const members = ["class", "count"].map((extension) => ({
    name: `0.${extension}`,
    data: "dog",
  }));
  const storage = new MemoryStorage({ "t.tar": tarBytes(members) });
  using dataset = await openWebDataset("t.tar", { storage });
  const [sample] = await dataset.get([0]);
  const dog = new TextEncoder().encode("dog");
  assert.deepEqual({ ...sample }, { __key__: "0", class: dog, count: dog });
});

Deno.test("images are decoded, and undecodable values are named", async () => {
  const codec = await imageCodec();
  const gray = {
    data: new Uint8Array(64).fill(128),
    height: 8,
    width: 8,
    channels: 1,
  } as const;
  const jpg = await codec.encode(gray);
  const bytes = tarBytes([
    { name: "0.jpg", data: jpg },
    { name: "0.cls", data: "one" },
  ]);
  const storage = new MemoryStorage({ "t.tar": bytes });
  using pictures = await openWebDataset("t.tar", {
    storage,
    fields: ["jpg"],
  });
  const [{ jpg: picture } = {}] = await pictures.get([0]) as [
    Partial<WebSample>,
  ];
  const { height, width, channels } = picture as typeof gray;
  assert.deepEqual([height, width, channels], [8, 8, 1]);
  using all = await openWebDataset("t.tar", { storage });
  await assert.rejects(
    all.get([0]),
    /Cannot decode '0\.cls' of .*t\.tar: it is not a whole number/,
  );
  using raw = await openWebDataset("t.tar", { storage, decode: false });
  const [sample] = await raw.get([0]);
  assert.deepEqual(sample?.["jpg"], new Uint8Array(jpg));
});

Deno.test("labels are the values of files with an extension", async () => {
  using fs = await open(SHARDS);
  const labels = await readLabels(fs, "cls");
  assert.equal(labels.length, 15);
  await assert.rejects(
    readLabels(fs, "png"),
    /train-000000\.tar: its sample '000' has no single value of 'png'/,
  );
  await assert.rejects(readLabels(fs, "npy"), { code: "no-label" });
});

Deno.test("samples are read as bytes, with all of their files and their keys", async () => {
  using opened = await openWeb(PAIRS);
  assert.equal(opened.length, 12);
  const keys: string[] = [];
  for (const { __key__, ...files } of await opened.read(Array(12).keys())) {
    keys.push(__key__);
    const names = Object.keys(files).sort();
    assert.deepEqual(names, ["bin", "cls", "meta.json", "npy", "txt"]);
    assert.ok(names.every((name) => files[name] instanceof Uint8Array));
  }
  assert.deepEqual(keys, keys.map((_, i) => `train/${keyOf(i)}`));
  assert.equal(keys.length, 12);
});

Deno.test("another thread makes the same dataset, of the requested extensions", async () => {
  using dataset = await openWebDataset(SHARDS, { fields: ["cls"] });
  const [sample] = await dataset.get([14]);
  assert.deepEqual({ ...sample }, { __key__: "014", cls: 14 });
  await assertPortable(dataset, [14, 0, 7]);
});
