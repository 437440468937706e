/** Conversions to MDS as MosaicML's Streaming reads them, compared with the sources as other packages read them. */
import assert from "node:assert/strict";
import { convert } from "../../../src/open/convert/convert.ts";
import { sha256 } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { FULL_COLUMNS } from "../../support/peers/arrow_columns.ts";
import { writeArrowFiles } from "../../support/peers/arrow_files.ts";
import {
  arrowSamples,
  granularSamples,
  streamingSamples,
  webdatasetSamples,
} from "../../support/peers/python_readers.ts";
import {
  alignedTo,
  classOf,
  dict,
  float,
  plainOf,
  type PythonSample,
  type PythonValue,
} from "../../support/peers/python_values.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { SOURCES } from "../../support/typed_samples.ts";

const GOLDEN = `${REPOSITORY}test/golden`;

/** Converts sources, and reads the results with Streaming. */
async function converted(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  let samples: PythonSample[][] = [];
  await withTempDir(async (dir) => {
    const targets = paths.map((_, i) => `${dir}/${i}`);
    const options = { to: "mds", lossy: true, onWarning() {} } as const;
    for (const [i, path] of paths.entries()) {
      await convert(path, targets[i]!, options);
    }
    samples = await streamingSamples(targets);
  });
  return samples;
}

/** Compares values regardless of the classes of numbers and arrays, and images by their files. */
function assertSame(found: PythonValue, like: PythonValue, what: string): void {
  if (classOf(found) === "image") {
    const { bytes } = found as { bytes: string };
    return assert.equal(bytes, (like as { bytes: string }).bytes, what);
  }
  assert.deepEqual(alignedTo(plainOf(found), like), plainOf(like), what);
}

/** Compares all samples, and the classes of their fields. */
function assertSamples(
  found: readonly PythonSample[],
  expected: readonly PythonSample[],
  classes: Readonly<Record<string, string>>,
): void {
  assert.equal(found.length, expected.length);
  assert.ok(found.length > 0);
  for (const [i, sample] of found.entries()) {
    const names = Object.keys(classes).sort();
    assert.deepEqual(Object.keys(sample).sort(), names);
    for (const [name, kind] of Object.entries(classes)) {
      const what = `'${name}' of sample ${i}`;
      assert.equal(classOf(sample[name]!), kind, what);
      assertSame(sample[name]!, expected[i]![name]!, what);
    }
  }
}

Deno.test({
  name: "Streaming reads the values of MDS that was converted to MDS",
  ...needs("mosaicml-streaming"),
  async fn() {
    const names = ["plain", "lists", "zstd", "gz", "kept", "lists_zstd"];
    const paths = names.map((name) => `${GOLDEN}/mds/${name}/data`);
    const expected = await streamingSamples(paths);
    assert.ok(expected.every((samples) => samples.length > 0));
    assert.deepEqual(await converted(paths), expected);
  },
});

Deno.test({
  name: "Streaming reads the values of bags that granular reads",
  ...needs("mosaicml-streaming", "python3", "granular", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await SOURCES["bags"]!(`${dir}/bags`);
      const golden = `${GOLDEN}/granular3/types/data`;
      const [own, types] = await granularSamples([`${dir}/bags`, golden]);
      const [found, all] = await converted([`${dir}/bags`, golden]);
      assertSamples(found!, own!, {
        ...{ count: "int", name: "str", blob: "bytes", image: "image" },
        ...{ box: "array <f4", meta: "dict", score: "float", whole: "int" },
      });
      assert.equal(all!.length, types!.length);
      for (const [i, sample] of all!.entries()) {
        const { tree: _, ...expected } = types![i]!; // JSON cannot represent it
        assert.deepEqual(sample["arr"], expected["arr"]); // arrays of various types
        assert.deepEqual(
          Object.keys(sample).sort(),
          Object.keys(expected).sort(),
        );
        for (const [name, value] of Object.entries(expected)) {
          assertSame(sample[name]!, value, name);
        }
      }
    }),
});

Deno.test({
  name: "Streaming reads the values of tars that webdataset reads",
  ...needs("mosaicml-streaming", "python3", "webdataset", "numpy"),
  fn: () =>
    withTempDir(async (dir) => {
      await SOURCES["tar"]!(`${dir}/x.tar`);
      const [expected] = await webdatasetSamples([`${dir}/x.tar`]);
      const [found] = await converted([`${dir}/x.tar`]);
      assertSamples(found!, expected!, {
        ...{ __key__: "str", "count.cls": "int", "name.txt": "str" },
        ...{ blob: "bytes", "image.jpg": "image", "box.npy": "array <f4" },
        ...{ "meta.json": "dict", "score.json": "float" },
        "whole.json": "float",
      });
    }),
});

Deno.test({
  name: "Streaming reads the values of Parquet that PyArrow reads",
  ...needs("mosaicml-streaming", "python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full } = await writeArrowFiles(dir);
      const [expected] = await arrowSamples([full]);
      const classes = Object.fromEntries(
        Object.entries(FULL_COLUMNS).map(([name, { mds }]) => [name, mds]),
      );
      const [found] = await converted([full]);
      assertSamples(found!, expected!, classes);
    }),
});

Deno.test({
  name: "Streaming reads the rows of Parquet with nulls that the plan keeps",
  ...needs("mosaicml-streaming", "python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const { gaps } = await writeArrowFiles(dir);
      const [rows] = await arrowSamples([gaps]);
      // A row without its `int` is skipped; other missing values have a substitute, or are `null` in JSON.
      const substitutes: PythonSample = {
        text: "",
        real: float(NaN),
        blob: { bytes: "" },
        when: "",
      };
      const expected = rows!.filter(({ int }) => int !== null).map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            value ?? substitutes[name] ?? null,
          ]),
        )
      );
      assert.equal(expected.length, 4);
      const [found] = await converted([gaps]);
      assert.equal(found!.length, expected.length);
      for (const [i, sample] of found!.entries()) {
        assert.deepEqual(
          Object.keys(sample).sort(),
          Object.keys(expected[i]!).sort(),
        );
        for (const [name, value] of Object.entries(expected[i]!)) {
          assertSame(sample[name]!, value, `'${name}' of sample ${i}`);
        }
      }
    }),
});

Deno.test({
  name: "Streaming reads all rows of the Parquet files of the tests",
  ...needs("mosaicml-streaming", "python3", "pyarrow"),
  async fn() {
    const names = ["zstd_v2", "plain_v1", "pictures"];
    const paths = names.map((name) =>
      `${GOLDEN}/parquet/${name}/${name}.parquet`
    );
    // Values that may be missing are JSON, or have a substitute.
    const substitutes: PythonSample = { word: "", data: { bytes: "" } };
    const all = await converted(paths);
    for (const [file, rows] of (await arrowSamples(paths)).entries()) {
      const kept = rows.filter(({ image }) => image !== null);
      const found = all[file]!;
      assert.equal(found.length, kept.length);
      for (const [i, sample] of found.entries()) {
        assert.equal(Object.keys(sample).length, Object.keys(kept[i]!).length);
        for (const [name, value] of Object.entries(kept[i]!)) {
          const isPicture = classOf(sample[name]!) === "image";
          const like = value ?? substitutes[name] ?? null;
          const file = isPicture && classOf(like) === "dict"
            ? (like as { dict: PythonSample }).dict["bytes"]!
            : like;
          assertSame(sample[name]!, file, `'${name}' of sample ${i}`);
        }
      }
    }
  },
});

Deno.test({
  name: "Streaming reads the frames and metadata of GulpIO",
  ...needs("mosaicml-streaming"),
  async fn() {
    const { path, content } = gulpCase("v2_gray_and_rgb");
    const [found] = await converted([path]);
    assert.equal(found!.length, content.videos.length);
    for (const [i, { id, frames, meta }] of content.videos.entries()) {
      const sample = found![i]!;
      assert.equal(sample["id"], id);
      const { label, idx } = meta as { label: string; idx: number };
      const expected = dict({ label, idx: { int: String(idx) } });
      assert.deepEqual(sample["meta"], expected);
      const pictures = sample["frames"] as { image: string; bytes: string }[];
      assert.deepEqual(
        pictures.map(({ image, bytes }) => [
          image,
          sha256(Uint8Array.fromHex(bytes)),
        ]),
        frames.map(({ sha256 }) => ["JPEG", sha256]),
      );
    }
  },
});
