/** Output of conversions as Python's webdataset, granular and protobuf read it: all samples, types and values. */
import assert from "node:assert/strict";
import { DatasetWriter, encodersOf } from "../../src/formats/bags/mod.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { ODD_SAMPLES, writeOddSamples } from "../support/peers/odd_samples.ts";
import {
  exampleSamples,
  granularSamples,
  pythonJson,
  webdatasetSamples,
} from "../support/peers/python_readers.ts";
import {
  array,
  bytes,
  classOf,
  dict,
  float,
  int,
  plainOf,
  type PythonValue,
} from "../support/peers/python_values.ts";
import { SAMPLES, SOURCES, utf8 } from "../support/typed_samples.ts";

/** The samples as Python reads them. */
const EXPECTED = SAMPLES.map(({ blob, image, box, ...sample }) => ({
  count: int(sample.count),
  score: float(sample.score),
  name: sample.name,
  blob: bytes(blob),
  image: bytes(image),
  box: array("<f4", [3], box.data),
  meta: dict({ a: [int(1), float(2.5), "x"], b: null }),
}));

/** Whole floats: sources without a float type for them, such as MessagePack's, write integers. */
const WHOLE = SAMPLES.map(({ whole }) => [float(whole), int(whole)] as const);

const QUIET = { onWarning() {} };

Deno.test({
  name:
    "Python's webdataset reads the same number of samples from tars, and their values",
  ...needs("python3", "webdataset", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      const paths: string[] = [];
      for (const [from, write] of Object.entries(SOURCES)) {
        if (from === "tar") continue; // a tar is not converted
        await write(`${dir}/${from}`);
        await convert(`${dir}/${from}`, `${dir}/${from}.tar`);
        paths.push(`${dir}/${from}.tar`);
      }
      const found = await webdatasetSamples(paths);
      for (const [number, path] of paths.entries()) {
        const isPacked = path.endsWith("bags.tar");
        const expected = EXPECTED.map((sample, i) => ({
          "__key__": `${i}`.padStart(6, "0"),
          "count.cls": sample.count,
          "score.json": sample.score,
          "whole.json": WHOLE[i]![isPacked ? 1 : 0],
          "name.txt": sample.name,
          blob: sample.blob,
          "image.jpg": sample.image,
          "box.npy": sample.box,
          "meta.json": sample.meta,
        }));
        assert.deepEqual(found[number], expected, path);
      }
    }),
});

Deno.test({
  name:
    "Python's webdataset reads the same number of samples from containers of other kinds",
  ...needs("python3", "webdataset"),
  fn: () =>
    withTempDir(async (dir) => {
      const golden = `${REPOSITORY}test/golden`;
      const containers = [
        "parquet/pictures/pictures.parquet",
        "mds/plain/data",
        "granular3/types/data",
        "tfrecord/records",
      ];
      const paths: string[] = [];
      const counts: number[] = [];
      for (const [i, path] of containers.entries()) {
        const target = `${dir}/${i}.tar`;
        counts.push((await convert(`${golden}/${path}`, target, QUIET)).count);
        paths.push(target);
      }
      const read = await webdatasetSamples(paths);
      assert.deepEqual(read.map((samples) => samples.length), counts);
      assert.ok(counts.every((count) => count > 0));
    }),
});

Deno.test({
  name: "Python's granular reads the bags, and their values with their types",
  ...needs("python3", "granular", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      const paths: string[] = [];
      for (const [from, write] of Object.entries(SOURCES)) {
        if (from === "tar") continue; // its field names are file extensions
        await write(`${dir}/${from}`);
        await convert(`${dir}/${from}`, `${dir}/${from}.bags`, { to: "bags" });
        paths.push(`${dir}/${from}.bags`);
      }
      const found = await granularSamples(paths);
      for (const [number, path] of paths.entries()) {
        const isPacked = path.endsWith("bags.bags");
        const expected = EXPECTED.map((sample, i) => ({
          ...sample,
          whole: WHOLE[i]![isPacked ? 1 : 0],
        }));
        assert.deepEqual(found[number], expected, path);
      }
    }),
});

Deno.test({
  name: "Python's webdataset and granular read the writers' output",
  ...needs("python3", "webdataset", "granular", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await SOURCES["tar"]!(`${dir}/x.tar`);
      await SOURCES["bags"]!(`${dir}/bags`);
      const [members] = await webdatasetSamples([`${dir}/x.tar`]);
      const [datapoints] = await granularSamples([`${dir}/bags`]);
      const whole = (i: number, kind: 0 | 1) => ({ whole: WHOLE[i]![kind] });
      assert.deepEqual(
        datapoints,
        EXPECTED.map((sample, i) => ({ ...sample, ...whole(i, 1) })),
      );
      assert.deepEqual(
        members!.map(({ __key__, ...sample }) => [
          __key__,
          Object.fromEntries(
            Object.entries(sample).map(([name, value]) => [
              name.split(".")[0]!,
              value,
            ]),
          ),
        ]),
        EXPECTED.map((
          sample,
          i,
        ) => [String(i), { ...sample, ...whole(i, 0) }]),
      );
    }),
});

/** Extension of a field's member in WebDataset, by the class of the value. */
const SUFFIXES: Readonly<Record<string, string>> = {
  ...{ int: ".cls", float: ".json", str: ".txt", bytes: "" },
};

/** Returns the name of a field's member. */
function memberOf(field: string, kind: string): string {
  const suffix = kind.startsWith("array") ? ".npy" : SUFFIXES[kind] ?? ".json";
  return field.replace("/", "_") + suffix;
}

Deno.test({
  name: "Python's webdataset reads values at the limits of their types",
  ...needs("python3", "webdataset", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await writeOddSamples(`${dir}/mds`);
      await convert(`${dir}/mds`, `${dir}/odd.tar`, QUIET);
      const [found] = await webdatasetSamples([`${dir}/odd.tar`]);
      const expected = ODD_SAMPLES.map((sample, i) => ({
        "__key__": `00000${i}`,
        ...Object.fromEntries(
          Object.entries(sample)
            .filter(([, value]) => value !== null) // has no file
            .map((
              [field, value],
            ) => [memberOf(field, classOf(value)), value]),
        ),
      }));
      assert.deepEqual(found, expected);
    }),
});

Deno.test({
  name: "Python's webdataset decodes plain data that JSON cannot represent",
  ...needs("python3", "webdataset", "msgpack"),
  fn: () =>
    withTempDir(async (dir) => {
      const spec = { packed: "msgpack" };
      const encoders = encodersOf(3);
      const path = `${dir}/bags`;
      await using writer = await DatasetWriter.open(path, spec, { encoders });
      const data = Uint8Array.of(1, 255);
      await writer.write({ packed: { data, list: [1, null, "ä", 0.5] } });
      await writer.close();
      await convert(path, `${dir}/x.tar`);
      const [found] = await webdatasetSamples([`${dir}/x.tar`]);
      const list = [int(1), null, "ä", float(0.5)];
      const packed = dict({ data: bytes(data), list });
      assert.deepEqual(found, [{ __key__: "000000", "packed.mp": packed }]);
    }),
});

Deno.test({
  name: "Python's granular reads values at the limits of their types",
  ...needs("python3", "granular", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await writeOddSamples(`${dir}/mds`);
      await convert(`${dir}/mds`, `${dir}/bags`, { to: "bags", ...QUIET });
      const [found] = await granularSamples([`${dir}/bags`]);
      const expected = ODD_SAMPLES.map(({ "a/b": renamed, ...sample }) => ({
        ...sample,
        "a_b": renamed,
      }));
      assert.deepEqual(found, expected);
    }),
});

Deno.test({
  name: "Python's protobuf reads values at the limits of their types",
  ...needs("python3", "protobuf", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await writeOddSamples(`${dir}/mds`);
      const options = { lossy: true, ...QUIET };
      await convert(`${dir}/mds`, `${dir}/odd.tfrecord`, options);
      const [found] = await exampleSamples([`${dir}/odd.tfrecord`]);
      // The other samples have signed integers of more than 64 bits.
      assert.equal(found!.length, 1);
      const { grid, tree, ...plain } = found![0]!;
      const { flag, grid: _, tree: expected, ...others } = ODD_SAMPLES[2]!;
      assert.equal(flag, null); // has no feature
      const features = Object.entries(others).map(([name, value]) => [
        name,
        featureOf(value),
      ]);
      assert.deepEqual(plain, Object.fromEntries(features));
      const text = new TextDecoder().decode(onlyBytes(tree!));
      assert.deepEqual(await pythonJson([text]), [expected]);
      const npy = new TextDecoder("latin1").decode(onlyBytes(grid!));
      assert.match(npy, /^.NUMPY.*'descr': '\|u1'.*'shape': \(3,\)/s);
      assert.ok(npy.endsWith("\n\x01\x02\x03"));
    }),
});

/** Returns the feature for a value. */
function featureOf(value: PythonValue): PythonValue {
  switch (classOf(value)) {
    case "int":
      return dict({ "int64_list": [value] });
    case "float": {
      const { float: number } = value as { float: number };
      return dict({ "float_list": [float(Math.fround(number))] });
    }
    case "str":
      return dict({ "bytes_list": [bytes(utf8(value as string))] });
    default:
      return dict({ "bytes_list": [value] });
  }
}

/** Returns the only value of a bytes feature. */
function onlyBytes(feature: PythonValue): Uint8Array {
  const { bytes_list: list } = plainOf(feature) as { bytes_list: Uint8Array[] };
  assert.equal(list.length, 1);
  return list[0]!;
}
