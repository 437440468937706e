/** Samples with fields, converted to other formats: names, types and values are preserved, and losses reported. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { numbersArray } from "../../src/convert/samples/numbers_array.ts";
import { MDSWriter } from "../../src/formats/mds/mod.ts";
import { DatasetWriter, encodersOf } from "../../src/formats/bags/mod.ts";
import { TarWriter } from "../../src/formats/tar/mod.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { openSamples } from "../../mod.ts";
import { withTempDir } from "../support/paths.ts";
import {
  FIELDS,
  jpegA,
  jpegB,
  SAMPLES,
  SOURCES,
  utf8,
} from "../support/typed_samples.ts";

/** Names of fields in WebDataset. */
const EXTENSIONS: Record<string, string> = {
  ...{ count: "count.cls", score: "score.json", whole: "whole.json" },
  ...{ name: "name.txt", blob: "blob", image: "image.jpg" },
  ...{ box: "box.npy", meta: "meta.json" },
};

/** Reads samples of a format, with images as they are stored. */
async function readAll(
  path: string,
  nameOf: (field: string) => string,
): Promise<Record<string, unknown>[]> {
  using samples = await openSamples(path);
  const image = nameOf("image");
  const all: Record<string, unknown>[] = [];
  for (let i = 0; i < samples.length; i++) {
    const others = FIELDS.filter((field) => field !== "image");
    const fields = others.map(nameOf);
    const decoded = await samples.get(i, { fields });
    const raw = await samples.read(i, { fields: [image] });
    const sample = Object.fromEntries(
      others.map((field) => [field, decoded[nameOf(field)]]),
    );
    all.push({ ...sample, image: new Uint8Array(raw[image] as Uint8Array) });
  }
  return all;
}

/** Compares samples: numeric arrays by content, floats as numbers, bytes by value. */
function requireSame(
  actual: readonly object[],
  wanted: readonly object[],
  what: string,
): void {
  assert.deepEqual(actual.map(plain), wanted.map(plain), what);
}

function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return typeof value === "bigint" ? Number(value) : value;
  }
  if (ArrayBuffer.isView(value)) {
    return [value.constructor.name, ...value as unknown as number[]];
  }
  return Array.isArray(value) ? value.map(plain) : Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, plain(item)]),
  );
}

const same = (field: string) => field;
const extension = (field: string) => EXTENSIONS[field]!;

for (const [from, write] of Object.entries(SOURCES)) {
  const keepsFiles = from === "tar";
  /** Names of fields in targets; those from WebDataset are extensions. */
  const named = keepsFiles ? extension : same;

  Deno.test(`${from} preserves names, types and values of fields in MDS, Bags and WebDataset`, () =>
    withTempDir(async (dir) => {
      const source = `${dir}/${keepsFiles ? "source.tar" : "source"}`;
      await write(source);
      requireSame(await readAll(source, named), SAMPLES, from);
      const toMds = await convert(source, `${dir}/mds`, { to: "mds" });
      assert.deepEqual(toMds.plan.lost, []);
      requireSame(await readAll(`${dir}/mds`, named), SAMPLES, "mds");
      const { shards } = JSON.parse(
        fs.readFileSync(`${dir}/mds/index.json`, "utf8"),
      );
      const encodings = Object.fromEntries(
        shards[0].column_names.map((
          name: string,
          i: number,
        ) => [name, shards[0].column_encodings[i]]),
      );
      const own: Record<string, string> = {
        ...{ count: keepsFiles ? "str_int" : "int", name: "str" },
        ...{ blob: "bytes", image: "jpeg", box: "ndarray", meta: "json" },
      };
      for (const [field, encoding] of Object.entries(own)) {
        assert.equal(encodings[named(field)], encoding, field);
      }
      for (const generation of [3, 2] as const) {
        const bags = `${dir}/bags_${generation}`;
        const { plan } = await convert(source, bags, {
          to: "bags",
          generation,
        });
        assert.deepEqual(plan.lost, []);
        requireSame(await readAll(bags, named), SAMPLES, bags);
      }
      const toTar = await convert(source, `${dir}/made.tar`);
      assert.deepEqual(toTar.plan.lost, []);
      requireSame(await readAll(`${dir}/made.tar`, extension), SAMPLES, "tar");
    }));

  Deno.test(`${from} becomes examples of TensorFlow, with a feature for each field`, () =>
    withTempDir(async (dir) => {
      const source = `${dir}/${keepsFiles ? "source.tar" : "source"}`;
      await write(source);
      const to = `${dir}/made.tfrecord`;
      // MDS has typed 64-bit floats; in MessagePack and JSON, floats are ordinary values.
      if (from === "mds") {
        await assert.rejects(convert(source, to), {
          code: "would-lose",
          message: /'score' has 64-bit numbers/,
        });
      }
      await convert(source, to, { lossy: from === "mds" });
      using samples = await openSamples(to);
      assert.equal(samples.length, SAMPLES.length);
      for (const [i, { count, name, blob, image, meta }] of SAMPLES.entries()) {
        const example = await samples.get(i) as Record<string, never>;
        const valueOf = (field: string) => Array.from(example[named(field)]!);
        assert.deepEqual(valueOf("count"), [BigInt(count)]);
        assert.deepEqual(valueOf("name"), [utf8(name)]);
        assert.deepEqual(valueOf("blob"), [blob]);
        assert.deepEqual(valueOf("image"), [new Uint8Array(image)]);
        const [text] = valueOf("meta") as Uint8Array[];
        assert.deepEqual(JSON.parse(new TextDecoder().decode(text)), meta);
        const score = example[named("score")]!;
        const expected = from === "mds"
          ? Float32Array.of(SAMPLES[i]!.score)
          : [utf8(`${SAMPLES[i]!.score}`)];
        assert.deepEqual(score, expected);
      }
    }));
}

Deno.test("MDS converted to itself preserves any columns, encodings and bytes", () =>
  withTempDir(async (dir) => {
    const columns = {
      ...{ pk: "pkl", i8: "int8", u64: "uint64", f16: "float16", s: "str" },
      ...{ si: "str_int", sf: "str_float", sd: "str_decimal", j: "json" },
      ...{ list: "list[jpeg]", b: "bytes", typed: "ndarray:int16" },
      ...{ shaped: "ndarray:uint8:2,2" },
    };
    await using writer = await MDSWriter.open(`${dir}/a`, { columns });
    await writer.write({
      ...{ pk: Uint8Array.of(0x80, 4, 0x4e, 0x2e), i8: -3, u64: 2n ** 63n },
      ...{ f16: 0.5, s: "ü", si: 12, sf: 1e300, sd: "1.50" },
      ...{ j: utf8('{"b":1,  "a":1.0}'), list: [jpegA, jpegB] },
      ...{ b: new Uint8Array(0), typed: { data: Int16Array.of(1, -1) } },
      ...{ shaped: { data: Uint8Array.of(1, 2, 3, 4), shape: [2, 2] } },
    });
    await writer.close();
    const { plan } = await convert(`${dir}/a`, `${dir}/b`, { to: "mds" });
    assert.deepEqual(plan.lost, []);
    const shard = (of: string) =>
      fs.readFileSync(`${dir}/${of}/shard.00000.mds`);
    assert.deepEqual(shard("b"), shard("a"));
  }));

Deno.test("a field that samples lack is reported, and needs the caller's consent", () =>
  withTempDir(async (dir) => {
    await using writer = await TarWriter.open(`${dir}/a.tar`);
    await writer.write("0.txt", utf8("zero"));
    await writer.write("0.cls", utf8("7"));
    await writer.write("1.txt", utf8("one"));
    await writer.write("2.cls", utf8("9"));
    await writer.close();
    const convertTo = (to: string, options: object = {}) =>
      convert(`${dir}/a.tar`, `${dir}/${to}`, { to, ...options });
    await assert.rejects(convertTo("mds"), (error: Error) => {
      assert.match(error.message, /samples without 'cls' \(1 of 3\)/);
      assert.match(
        error.message,
        /that 'txt' is missing in 1 of 3 samples, where it becomes an empty text/,
      );
      return true;
    });
    assert.equal(fs.existsSync(`${dir}/mds`), false);
    const { count, leftOut } = await convertTo("mds", { lossy: true });
    assert.deepEqual([count, leftOut], [2, 0]);
    using mds = await openSamples(`${dir}/mds`);
    assert.deepEqual(
      (await mds.get([0, 1])).map(({ cls, txt }) => [cls, txt]),
      [[7, "zero"], [9, ""]],
    );
    // Features may be missing.
    const { plan } = await convertTo("tfrecord");
    assert.deepEqual(plan.lost, []);
    using examples = await openSamples(`${dir}/tfrecord`);
    assert.deepEqual(
      (await examples.get([0, 1, 2])).map((example) => Object.keys(example)),
      [["__key__", "txt", "cls"], ["__key__", "txt"], ["__key__", "cls"]],
    );
  }));

Deno.test("shards of WebDataset never split a sample, and have the requested size", () =>
  withTempDir(async (dir) => {
    await SOURCES["mds"]!(`${dir}/mds`);
    const options = { to: "tar", shardLength: 2 };
    await convert(`${dir}/mds`, `${dir}/shards`, options);
    const lengths: number[] = [];
    for (const name of fs.readdirSync(`${dir}/shards`).sort()) {
      using shard = await openSamples(`${dir}/shards/${name}`);
      lengths.push(shard.length);
    }
    assert.deepEqual(lengths, [2, 1]);
  }));

Deno.test("a list of integers out of a type's range is not an array of that type", () => {
  assert.deepEqual(numbersArray([1, 255], "uint8").data, Uint8Array.of(1, 255));
  for (const [list, type] of [[[256], "uint8"], [[1, -129], "int8"]] as const) {
    assert.throws(() => numbersArray(list, type), {
      name: "RangeError",
      message: `${list.at(-1)} is out of range of '${type}'`,
    });
  }
});

Deno.test("plain data that JSON cannot represent becomes MessagePack, named as in webdataset", () =>
  withTempDir(async (dir) => {
    const spec = { n: "int", packed: "msgpack" };
    const encoders = encodersOf(3);
    const path = `${dir}/bags`;
    await using writer = await DatasetWriter.open(path, spec, { encoders });
    for (const n of [1, 2]) {
      await writer.write({ n, packed: { data: Uint8Array.of(n, 2), n } });
    }
    await writer.close();
    await convert(path, `${dir}/x.tar`);
    await convert(`${dir}/x.tar`, `${dir}/back`, { to: "bags" });
    using samples = await openSamples(`${dir}/back`);
    const { type } = samples.fields!.find(({ name }) => name === "packed.mp")!;
    assert.equal(type.kind, "tree");
  }));
