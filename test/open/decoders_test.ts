/** The option `decoders` of `openSamples` and `openDataset`: the caller's functions decode values of any format. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples, type SampleValues } from "../../mod.ts";
import { FormatError } from "../../src/base/errors.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { DataLoader, RECIPE } from "../../src/open/data/mod.ts";
import { openDataset } from "../../src/open/data/open_dataset.ts";
import type { OpenDatasetOptions } from "../../src/open/data/open_dataset.ts";
import type { Generation } from "../../src/formats/bags/mod.ts";
import { openSamplesSync } from "../../src/open/mod.ts";
import { OpenedSamples } from "../../src/open/samples/opened_samples.ts";
import own from "../data/support/own_decoders.ts";
import { assertPortable } from "../data/support/in_thread.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { entryOf, NAME, sampleOf, shardOf } from "../support/mds/make_mds.ts";
import { parquetFile } from "../support/parquet/make_parquet.ts";
import { withTempDir } from "../support/paths.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { exampleOf, fileOf } from "../support/tfrecord/make_tfrecord.ts";

const MODULE = new URL("../data/support/own_decoders.ts", import.meta.url);

const utf8 = (text: string) => Uint8Array.from(new TextEncoder().encode(text));
const length = ({ length }: Uint8Array) => length;

function unused(): never {
  throw new Error("it was called");
}

/** A WebDataset sample. */
const TAR = tarBytes([
  { name: "d/0.cls", data: "7" },
  { name: "d/0.json", data: "[1]" },
  { name: "d/0.LEN", data: "abc" },
  { name: "d/0.txt", data: "text" },
]);

interface Case {
  write(dir: string): string;
  /** Its only sample, decoded by the decoders of {@linkcode MODULE}. */
  readonly decoded: SampleValues;
}

function tarCase(): Case {
  return {
    write(dir) {
      fs.writeFileSync(`${dir}/t.tar`, TAR);
      return "t.tar";
    },
    decoded: {
      __key__: "d/0",
      cls: 7,
      json: [1],
      LEN: 3,
      txt: utf8("text"),
    },
  };
}

function mdsCase(): Case {
  return {
    write(dir) {
      const shard = shardOf([sampleOf(5, "text")]);
      const shards = [entryOf(NAME, shard.length, 1)];
      const index = JSON.stringify({ shards, version: 2 });
      fs.writeFileSync(`${dir}/${NAME}`, shard);
      fs.writeFileSync(`${dir}/index.json`, index);
      return "index.json";
    },
    decoded: { n: 5, t: "<text>" },
  };
}

function bagsCase(generation: Generation): Case {
  const hasList = generation < 3;
  return {
    write(dir) {
      const spec = {
        raw: "bytes",
        word: "utf8",
        ...hasList ? { words: "utf8[]" } : {},
      };
      const datapoint = {
        raw: utf8("raw"),
        word: utf8("a"),
        words: ["b", "cc", ""].map(utf8),
      };
      writeDataset(`${dir}/bags`, spec, [datapoint], generation);
      return "bags";
    },
    decoded: {
      raw: utf8("raw"),
      word: "<a>",
      ...hasList ? { words: ["<b>", "<cc>", "<>"] } : {},
    },
  };
}

const CASES: Readonly<Record<string, Case>> = {
  WebDataset: tarCase(),
  MDS: mdsCase(),
  "Bags of generation 1": bagsCase(1),
  "Bags of generation 2": bagsCase(2),
  "Bags of generation 3": bagsCase(3),
};

for (const [name, { write, decoded }] of Object.entries(CASES)) {
  Deno.test(`${name}: decoders replace the default decoding of the fields they name, also in threads`, () =>
    withTempDir(async (dir) => {
      const path = `${dir}/${write(dir)}`;
      for (const decoders of [own, MODULE, { module: MODULE.href }]) {
        using samples = await openSamples(path, { decoders });
        assert.deepEqual({ ...await samples.get(0) }, decoded);
        if (decoders === own) continue;
        let handle = structuredClone(samples.share());
        for (let thread = 0; thread < 2; thread++) { // the second thread receives them from the first
          using shared = await OpenedSamples.openShared(handle);
          assert.deepEqual({ ...await shared.get(0) }, decoded);
          handle = structuredClone(shared.share());
        }
      }
      using now = openSamplesSync(path, { decoders: own });
      assert.deepEqual({ ...await now.get(0) }, decoded);
      using dataset = await openDataset(path, { decoders: MODULE });
      await assertPortable(dataset, [0, 0]);
      await using loader = new DataLoader<SampleValues, SampleValues[]>(
        dataset,
        { batchSize: 1, numWorkers: 1, collate: false },
      );
      const loaded = (await Array.fromAsync(loader)).flat();
      assert.deepEqual(loaded.map((sample) => ({ ...sample })), [decoded]);
    }));
}

Deno.test("decoders of bytes without fields, and of files, are called bytes", () =>
  withTempDir(async (dir) => {
    const decoders = { bytes: length, txt: unused };
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([utf8("abc")]));
    using bytes = await openSamples(`${dir}/a.ffr`, { decoders });
    assert.deepEqual({ ...await bytes.get(0) }, { content: 3 });
    fs.writeFileSync(`${dir}/t.tar`, TAR);
    using files = await openSamples(`${dir}/t.tar`, {
      decoders,
      paths: ["d/0.txt"],
    });
    assert.deepEqual({ ...await files.get(0) }, {
      path: "d/0.txt",
      content: 4,
    });
  }));

Deno.test("decoders decode each value of a feature of bytes", () =>
  withTempDir(async (dir) => {
    const example = exampleOf({ "image/raw": ["abc", ""], other: ["x"] });
    fs.writeFileSync(`${dir}/a.tfrecord`, fileOf([example]));
    using samples = await openSamples(`${dir}/a.tfrecord`, {
      decoders: { "image/raw": length },
    });
    assert.deepEqual({ ...await samples.get(0) }, {
      "image/raw": [3, 0],
      other: [utf8("x")],
    });
  }));

Deno.test("decoders decode the frames of a video one by one", async () => {
  const path = "test/golden/gulp/v2_chunks/gulp";
  using samples = await openSamples(path, { decoders: { frames: length } });
  const { frames: lengths, id, ...others } = await samples.get(1);
  const stored = await samples.read(1);
  const frames = stored["frames"] as Uint8Array[];
  assert.ok(frames.length > 1);
  assert.deepEqual(lengths, frames.map(length));
  assert.equal(id, samples.keyOf(1));
  assert.deepEqual(others, { meta: stored["meta"] });
});

Deno.test("decoders do not affect values that are not stored as bytes", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.parquet`, parquetFile());
    using plain = await openSamples(`${dir}/a.parquet`);
    const [field] = plain.fields!;
    using samples = await openSamples(`${dir}/a.parquet`, {
      decoders: { [field!.type.name]: unused, n: unused },
    });
    assert.deepEqual({ ...await samples.get(0) }, { n: 7 });
  }));

Deno.test("a decoder is found by the last extension of a field, in lower case", async () => {
  const tar = tarBytes([
    { name: "0.seg.PNG", data: "abc" },
    { name: "0.seg.jpg", data: "ab" },
  ]);
  const options = { decoders: { png: length, jpg: length, seg: unused } };
  using samples = await openSamples({ "t.tar": tar }, {
    ...options,
    onWarning() {},
  });
  const sample = { __key__: "0", "seg.PNG": 3, "seg.jpg": 2 };
  assert.deepEqual({ ...await samples.get(0) }, sample);
});

Deno.test("a value that the default decoding rejects is read by a decoder, or as bytes by null", async () => {
  const tar = tarBytes([{ name: "0.cls", data: "one" }]);
  const storage = new MemoryStorage({ "t.tar": tar });
  const sampleBy = async (options: OpenDatasetOptions) => {
    const format = "webdataset";
    const all = { ...options, storage, format };
    using dataset = await openDataset("t.tar", all);
    const [sample] = await dataset.get([0]);
    return { ...sample };
  };
  await assert.rejects(sampleBy({}), { code: "bad-value" });
  assert.deepEqual(await sampleBy({ decoders: { cls: null } }), {
    __key__: "0",
    cls: utf8("one"),
  });
  assert.deepEqual(await sampleBy({ decoders: { cls: length } }), {
    __key__: "0",
    cls: 3,
  });
  assert.deepEqual(
    await sampleBy({ decoders: { cls: unused }, fields: ["txt"] }),
    { __key__: "0" },
  );
});

Deno.test("an error of a decoder names the file, the field and the sample", () =>
  withTempDir(async (dir) => {
    const cause = new Error("no such codec");
    const fail = () => {
      throw cause;
    };
    const failed = async (path: string, name: string, index: number) => {
      using samples = await openSamples(path, { decoders: { [name]: fail } });
      return await samples.get([index]).then(() => assert.fail("decoded"), (
        error: unknown,
      ) => error as FormatError);
    };
    fs.writeFileSync(`${dir}/t.tar`, TAR);
    const ofTar = await failed(`${dir}/t.tar`, "txt", 0);
    assert.ok(ofTar instanceof FormatError);
    assert.deepEqual(
      [ofTar.code, ofTar.path, ofTar.sample, ofTar.cause],
      ["bad-value", `${dir}/t.tar`, 0, cause],
    );
    assert.match(
      ofTar.message,
      /^Cannot decode the field 'txt' of sample 'd\/0' in .*\/t\.tar: no such codec\. /,
    );
    const mds = "test/golden/mds/plain/data";
    using plain = await openSamples(mds);
    const { name, type } = plain.fields![0]!;
    const ofMds = await failed(mds, type.name, 6);
    assert.deepEqual([ofMds.code, ofMds.sample], ["bad-value", 6]);
    assert.equal(ofMds.path, plain.fileOf(6));
    assert.ok(ofMds.message.startsWith(
      `Cannot decode the field '${name}' of sample 6 in ${ofMds.path}: `,
    ));
  }));

Deno.test("decoders that threads cannot import, and contradictory options, are rejected", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/t.tar`;
    fs.writeFileSync(path, TAR);
    const decoders = { len: length, txt: null };
    using samples = await openSamples(path, { decoders });
    const refused = {
      code: "not-portable",
      message: /^The option 'decoders' \(its 'len'\) cannot be sent/,
    };
    assert.throws(() => samples.share(), refused);
    using dataset = await openDataset(path, { decoders });
    assert.throws(() => dataset[RECIPE](), refused);
    using bytes = await openDataset(path, { decoders: { txt: null } });
    await assertPortable(bytes, [0]);
    await assert.rejects(
      openSamples(path, { decoders: { module: MODULE, name: "seven" } }),
      { code: "not-portable", message: /is not an object of decoders/ },
    );
    await assert.rejects(
      openSamples(path, { decoders: { module: MODULE, name: "none" } }),
      { code: "not-portable", message: /no export 'none'/ },
    );
    await assert.rejects(
      openDataset(path, { decoders, decode: false }),
      { name: "TypeError", message: /'decoders' with decode: false/ },
    );
    assert.throws(
      () => openSamplesSync(path, { decoders: MODULE as never }),
      { name: "TypeError", message: /call openSamples/ },
    );
  }));
