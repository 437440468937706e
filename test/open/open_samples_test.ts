/** `openSamples` and `openDataset`: samples of every format by index and field. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  openSamples,
  type OpenSamplesOptions,
  type SampleValues,
} from "../../mod.ts";
import { IndexError } from "../../src/base/errors.ts";
import { open } from "../../src/open/open.ts";
import { DataLoader } from "../../src/open/data/mod.ts";
import { openDataset } from "../../src/open/data/open_dataset.ts";
import portableStorage from "../data/support/portable_storage.ts";
import { writeBag, writeDataset } from "../support/bags/make_bag.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { entryOf, NAME, sampleOf, shardOf } from "../support/mds/make_mds.ts";
import { parquetFile } from "../support/parquet/make_parquet.ts";
import { withTempDir } from "../support/paths.ts";
import { descriptorsBelow } from "../support/programs/descriptors.ts";
import { slowStorage } from "../support/slow_storage.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { exampleOf, fileOf } from "../support/tfrecord/make_tfrecord.ts";
import { FULL } from "../support/long.ts";
import { makeZip } from "../support/zip/make_zip.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const bytes = (text: string) => Uint8Array.from(utf8(text));

const WORDS = ["cat", "dog", "ox"];

/** Container of three samples, and their values. */
interface Case {
  readonly name: string;
  readonly unit: string;
  write(dir: string): string;
  readonly options?: OpenSamplesOptions;
  /** Values of each sample as `get` returns them. */
  readonly decoded: readonly Record<string, unknown>[];
  /** Values of each sample as `read` returns them. */
  readonly stored: readonly Record<string, unknown>[];
  /** Field to select. */
  readonly field: string;
  readonly keys?: readonly string[];
}

function file(name: string, content: () => Uint8Array) {
  return (dir: string): string => {
    fs.writeFileSync(`${dir}/${name}`, content());
    return name;
  };
}

const contents = WORDS.map((word) => ({ content: bytes(word) }));

const CASES: readonly Case[] = [
  {
    name: "FFRecord",
    unit: "sample",
    write: file("a.ffr", () => ffrBytes(WORDS.map(utf8))),
    decoded: contents,
    stored: contents,
    field: "content",
  },
  {
    name: "TFRecord of other records",
    unit: "record",
    write: file("a.tfrecord", () => fileOf(WORDS.map(utf8))),
    decoded: contents,
    stored: contents,
    field: "content",
  },
  {
    name: "TFRecord of examples",
    unit: "record",
    write: file(
      "a.tfrecord",
      () =>
        fileOf(
          WORDS.map((word, i) => exampleOf({ word: [word], number: [`${i}`] })),
        ),
    ),
    decoded: WORDS.map((word, i) => ({
      word: [bytes(word)],
      number: [bytes(`${i}`)],
    })),
    stored: WORDS.map((word, i) => ({
      content: Uint8Array.from(
        exampleOf({ word: [word], number: [`${i}`] }),
      ),
    })),
    field: "number",
  },
  {
    name: "MDS",
    unit: "sample",
    write(dir) {
      const shard = shardOf(WORDS.map((word, i) => sampleOf(i, word)));
      const shards = [entryOf(NAME, shard.length, WORDS.length)];
      fs.writeFileSync(`${dir}/${NAME}`, shard);
      const index = JSON.stringify({ shards, version: 2 });
      fs.writeFileSync(`${dir}/index.json`, index);
      return "index.json";
    },
    decoded: WORDS.map((t, n) => ({ n, t })),
    stored: WORDS.map((word, i) => ({
      n: new Uint8Array(BigInt64Array.of(BigInt(i)).buffer),
      t: bytes(word),
    })),
    field: "t",
  },
  {
    name: "Parquet",
    unit: "row",
    write: file("a.parquet", () => parquetFile()),
    decoded: [{ n: 7 }, { n: 8 }, { n: 9 }],
    stored: [{ n: 7 }, { n: 8 }, { n: 9 }],
    field: "n",
  },
  {
    name: "WebDataset",
    unit: "sample",
    write: file("a.tar", () =>
      tarBytes(WORDS.flatMap((word, i) => [
        { name: `p/${i}.txt`, data: word },
        { name: `p/${i}.cls`, data: `${i}` },
      ]))),
    decoded: WORDS.map((txt, cls) => ({ txt, cls, __key__: `p/${cls}` })),
    stored: WORDS.map((word, i) => ({
      txt: bytes(word),
      cls: bytes(`${i}`),
      __key__: `p/${i}`,
    })),
    field: "cls",
    keys: ["p/0", "p/1", "p/2"],
  },
  {
    name: "a bag",
    unit: "record",
    write(dir) {
      writeBag(`${dir}/a.bag`, WORDS.map(utf8), 2);
      return "a.bag";
    },
    decoded: contents,
    stored: contents,
    field: "content",
  },
  ...([1, 2, 3] as const).map((generation): Case => ({
    name: `a dataset of bags, generation ${generation}`,
    unit: "datapoint",
    write(dir) {
      const datapoints = WORDS.map((word) => ({
        raw: utf8(word),
        word: utf8(word),
      }));
      const spec = { raw: "bytes", word: "utf8" };
      writeDataset(`${dir}/d`, spec, datapoints, generation);
      return "d";
    },
    decoded: WORDS.map((word) => ({ word, raw: bytes(word) })),
    stored: WORDS.map((word) => ({ word: bytes(word), raw: bytes(word) })),
    field: "word",
  })),
  {
    name: "files",
    unit: "file",
    write: file("a.zip", () =>
      makeZip(WORDS.map((data, i) => ({
        name: `d/${i}.txt`,
        data,
        method: i % 2 * 8,
      })))),
    decoded: WORDS.map((content, i) => ({ path: `d/${i}.txt`, content })),
    stored: WORDS.map((content, i) => ({
      path: `d/${i}.txt`,
      content: bytes(content),
    })),
    field: "path",
    keys: ["d/0.txt", "d/1.txt", "d/2.txt"],
  },
  {
    name: "selected files, whatever samples there are",
    unit: "file",
    write: file("a.tar", () =>
      tarBytes(WORDS.flatMap((word, i) => [
        { name: `p/${i}.txt`, data: word },
        { name: `p/${i}.cls`, data: `${i}` },
      ]))),
    options: { files: "*.cls" },
    decoded: WORDS.map((_, i) => ({ path: `p/${i}.cls`, content: i })),
    stored: WORDS.map((_, i) => ({
      path: `p/${i}.cls`,
      content: bytes(`${i}`),
    })),
    field: "content",
    keys: ["p/0.cls", "p/1.cls", "p/2.cls"],
  },
];

/** Converts samples to plain values, whatever classes hold them. */
function plain<T extends object>(samples: readonly T[]): object[] {
  return samples.map((sample) => ({ ...sample }));
}

for (const { name, write, options, ...expected } of CASES) {
  Deno.test(`openSamples: ${name}: stored and decoded, one, a batch and all, whole and by field`, () =>
    withTempDir(async (dir) => {
      const path = `${dir}/${write(dir)}`;
      const { decoded, stored, field } = expected;
      for (const storage of [undefined, slowStorage(3)]) {
        const samples = await openSamples(path, { ...options, storage });
        assert.equal(samples.length, 3);
        assert.equal(samples.unit, expected.unit);
        assert.deepEqual(plain([await samples.get(1)]), [decoded[1]]);
        const order = [2, 0, 0];
        assert.deepEqual(
          plain(await samples.get(order)),
          order.map((i) => decoded[i]),
        );
        assert.deepEqual(plain(await samples.read(order)), [
          stored[2],
          stored[0],
          stored[0],
        ]);
        assert.deepEqual(plain(await Array.fromAsync(samples)), decoded);
        const batches = await Array.fromAsync(samples.batches({ batch: 2 }));
        assert.deepEqual(batches.map(plain), [
          decoded.slice(0, 2),
          decoded.slice(2),
        ]);
        const [one] = await samples.get([1], { fields: [field] });
        assert.deepEqual(one![field], decoded[1]![field]);
        const others = Object.keys(one!).filter((key) => key !== "__key__");
        assert.deepEqual(others, [field]);
        assert.ok(samples.prefetch([0, 1, -1, 9]) >= 0);
        assert.equal(samples.keyOf(2), expected.keys?.[2]);
        assert.ok(samples.fileOf(0).startsWith(dir));
        await assert.rejects(samples.get(3), IndexError);
        await assert.rejects(samples.get([0, -1]), IndexError);
        samples.close();
        assert.equal(await descriptorsBelow(dir), 0);
        if (storage !== undefined) continue;
        using few = await openSamples(path, { ...options, fields: [field] });
        const [chosen] = await few.get([0]);
        assert.deepEqual(chosen![field], decoded[0]![field]);
      }
    }));

  Deno.test(`openDataset: ${name}: a loader returns its samples, in threads as well`, () =>
    withTempDir(async (dir) => {
      const path = `${dir}/${write(dir)}`;
      const { decoded, stored, field, unit } = expected;
      const storage = portableStorage();
      // A thread takes long to start, so a quick run uses one only for rows.
      for (const numWorkers of FULL || unit === "row" ? [0, 1] : [0]) {
        const openIt = (more: { decode?: boolean; fields?: string[] }) =>
          openDataset(`far:${path}`, { ...options, ...more, storage });
        const loaded = async (more: Parameters<typeof openIt>[0] = {}) => {
          using dataset = await openIt(more);
          await using loader = new DataLoader<SampleValues, SampleValues[]>(
            dataset,
            { batchSize: 2, numWorkers, collate: false },
          );
          return plain((await Array.fromAsync(loader)).flat());
        };
        assert.deepEqual(await loaded(), decoded);
        assert.deepEqual(await loaded({ decode: false }), stored);
        const [first] = await loaded({ fields: [field] });
        assert.deepEqual(
          (first as Record<string, unknown>)[field],
          decoded[0]![field],
        );
      }
    }));
}

Deno.test("openSamples: bytes without fields have no field but content", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([utf8("x")]));
    using samples = await openSamples(`${dir}/a.ffr`);
    await assert.rejects(samples.get(0, { fields: ["image"] }), {
      code: "no-column",
      message: /read the field 'image' of .*in the field 'content'/,
    });
  }));

Deno.test("openDataset: process makes the samples for training", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(
      `${dir}/a.zip`,
      makeZip([{ name: "a.txt", data: "one" }, { name: "b.txt", data: "two" }]),
    );
    using dataset = await openDataset(`${dir}/a.zip`, {
      process: (samples) => samples.map(({ content }) => content as string),
    });
    assert.deepEqual(await dataset.get([1, 0]), ["two", "one"]);
  }));

Deno.test("openSamples: a video has its id, its metadata and its frames, which are read on demand", async () => {
  const path = "test/golden/gulp/v2_chunks/gulp";
  using samples = await openSamples(path);
  using shown = await open(path);
  assert.equal(samples.unit, "video");
  const { id, meta, frames } = await samples.get(1);
  assert.equal(samples.keyOf(1), id);
  const names = await shown.list(id as string);
  assert.ok(names.length > 1);
  assert.equal((frames as unknown[]).length, names.length - 1);
  const json = await shown.read(`${id}/meta.json`);
  assert.deepEqual(meta, JSON.parse(new TextDecoder().decode(json)));
  const { id: same, ...others } = await samples.get(1, { fields: ["label"] });
  assert.equal(same, id);
  assert.deepEqual(others, { meta, frames: [] });
});
