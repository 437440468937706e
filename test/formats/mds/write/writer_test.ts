/** Output of the writer, read by an independent reader, and its state after failures. */
import { columnsOf, openMds } from "../../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { MDSWriter } from "../../../../src/formats/mds/mod.ts";
import { convert } from "../../../../src/open/convert/convert.ts";
import { DatasetReader, decodersOf } from "../../../../src/formats/bags/mod.ts";
import { check } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import { mdsCase } from "../../../support/mds/mds_golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

type MDSInput = Parameters<MDSWriter["write"]>[0][string];
type Shown = readonly Readonly<Record<string, readonly [string, unknown]>>[];

/** Reads a dataset in Python by the format's description alone. */
async function inPython(path: string): Promise<Shown> {
  const script = `${REPOSITORY}test/formats/mds/python/read_mds.py`;
  const { success, stdout, stderr } = await new Deno.Command(PYTHON, {
    args: ["-B", script, path],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

function pythonTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ...needs("python3", "numpy"), fn });
}

const COLUMNS = {
  n: "int",
  small: "int8",
  half: "float16",
  wide: "uint64",
  text: "str",
  raw: "bytes",
  tree: "json",
  digits: "str_int",
  real: "str_float",
  exact: "str_decimal",
  any: "ndarray",
  typed: "ndarray:float32",
  fixed: "ndarray:uint16:2,2",
  pictures: "list[jpeg]",
  frames: "jpeg_array",
};

function valuesOf(i: number): Record<keyof typeof COLUMNS, MDSInput> {
  return {
    n: i === 1 ? -(2n ** 63n) : i,
    small: -i,
    half: i / 2,
    wide: 2n ** 64n - 1n,
    text: `täxt ${i}`,
    raw: new Uint8Array(i * 40_000).fill(i),
    tree: { a: [i, null, "x"] },
    digits: 10n ** 25n,
    real: i === 0 ? NaN : 0.1,
    exact: "1.10",
    any: { data: new Float64Array(300 * (i + 1)), shape: [300, i + 1] },
    typed: { data: Float32Array.of(i, 2, 3), shape: [3] },
    fixed: { data: Uint16Array.of(1, 2, 3, i), shape: [2, 2] },
    pictures: Array.from({ length: i }, (_, k) => Uint8Array.of(k, i)),
    frames: [Uint8Array.of(i), new ArrayBuffer(2), new Uint16Array(1)],
  };
}

pythonTest(
  "Python reads the samples, in shards of any size",
  () =>
    withTempDir(async (dir) => {
      for (
        const limits of [
          {},
          { shardLength: 2 },
          { sizeLimit: 100_000 },
          { sizeLimit: 1 },
        ]
      ) {
        const path = `${dir}/a${JSON.stringify(limits).replaceAll(/\W/g, "")}`;
        await using writer = await MDSWriter.open(path, {
          columns: COLUMNS,
          ...limits,
        });
        for (let i = 0; i < 5; i++) {
          assert.equal(await writer.write(valuesOf(i)), i);
        }
        assert.equal(fs.existsSync(path), false);
        await writer.close();
        const samples = await inPython(path);
        assert.equal(samples.length, 5);
        for (const [i, sample] of samples.entries()) {
          const shown = Object.fromEntries(
            Object.entries(sample).map(([name, [, value]]) => [name, value]),
          );
          assert.deepEqual(
            Object.entries(sample).map((
              [name, [encoding]],
            ) => [name, encoding]),
            Object.entries(COLUMNS).sort(([a], [b]) => a < b ? -1 : 1),
          );
          const zeros = Array(300 * (i + 1)).fill(0);
          assert.deepEqual(shown, {
            n: i === 1 ? "-9223372036854775808" : String(i),
            small: String(-i),
            half: i / 2,
            wide: "18446744073709551615",
            text: `täxt ${i}`,
            raw: { hex: (i.toString(16).padStart(2, "0")).repeat(i * 40_000) },
            tree: { a: [i, null, "x"] },
            digits: `1${"0".repeat(25)}`,
            real: i === 0 ? "nan" : 0.1,
            exact: "1.10",
            any: { dtype: "float64", shape: [300, i + 1], values: zeros },
            typed: { dtype: "float32", shape: [3], values: [i, 2, 3] },
            fixed: { dtype: "uint16", shape: [2, 2], values: [1, 2, 3, i] },
            pictures: Array.from(
              { length: i },
              (_, k) => ({ hex: `0${k}0${i}` }),
            ),
            frames: [{ hex: `0${i}` }, { hex: "0000" }, { hex: "0000" }],
          });
        }
        const { damaged } = await check(path, {
          onDamage: (damage) => assert.fail(damage),
        });
        assert.equal(damaged, 0);
        const { shards } = JSON.parse(
          fs.readFileSync(`${path}/index.json`, "utf8"),
        );
        for (const { raw_data: raw, samples } of shards) {
          const { shardLength = Infinity, sizeLimit = 1 << 26 } = limits;
          assert.ok(samples <= shardLength);
          assert.ok(samples === 1 || raw.bytes <= sizeLimit);
        }
        if (limits.shardLength === 2) assert.equal(shards.length, 3);
        if (limits.sizeLimit === 1) assert.equal(shards.length, 5);
      }
    }),
);

Deno.test("a shard equals that of an independent writer byte for byte", () =>
  withTempDir(async (dir) => {
    const { path, content: { samples } } = mdsCase("every");
    using reader = await openMds(path);
    const columns = Object.fromEntries(columnsOf(reader));
    {
      using writer = MDSWriter.openSync(`${dir}/out`, {
        columns,
        shardLength: 2,
      });
      for (let i = 0; i < samples.length; i++) {
        const sample = await reader.get(i);
        const stored = reader.readSync(i);
        const values: Record<string, MDSInput> = {};
        for (const [name, encoding] of columnsOf(reader)) {
          const isValue = /^(u?int|float|str|ndarray)/.test(encoding);
          // Values that Python describes differently are compared as stored bytes.
          values[name] = isValue ? sample[name] as MDSInput : stored[name]!;
        }
        writer.writeSync(values);
      }
      writer.closeSync();
    }
    using again = await openMds(`${dir}/out`);
    for (const [i, sample] of samples.entries()) {
      for (const [name, bytes] of Object.entries(await again.read(i))) {
        assert.equal(sha256(bytes), sample[name]!.sha256, name);
      }
    }
  }));

Deno.test("a value that does not fit is rejected, and the samples before it remain", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/out`;
    await using writer = await MDSWriter.open(path, { columns: COLUMNS });
    await writer.write(valuesOf(0));
    const bad: [Partial<Record<keyof typeof COLUMNS, unknown>>, RegExp][] = [
      [{ small: 128 }, /'small': 128 is out of the range of 'int8'/],
      [{ n: 1.5 }, /'n': A value of 'int' must be a whole number/],
      [{ n: 2n ** 63n }, /out of the range of/],
      [{ text: 3 }, /'text': A value of 'str' must be a text/],
      [{ text: "\ud800" }, /surrogate/],
      [{ raw: "text" }, /'raw': A value of 'bytes' must be bytes/],
      [{ exact: "1,5" }, /a decimal number as a string/],
      [{ tree: () => 1 }, /'tree'/],
      [
        { typed: { data: Float64Array.of(1) } },
        /'<f8' does not fit 'ndarray:float32'/,
      ],
      [{ fixed: { data: Uint16Array.of(1) } }, /shape \(1\)/],
      [{ any: { data: new Float64Array(0) } }, /none of length 0/],
      [{ any: { data: ["x"] } }, /an array/],
      [
        { pictures: new Uint8Array(3) },
        /'list\[jpeg\]' must be a list of the bytes/,
      ],
      [
        { pictures: [new Uint8Array(3), "x"] },
        /'jpeg' must be bytes, not string/,
      ],
      [{ frames: [] }, /'jpeg_array' needs at least one element/],
    ];
    for (const [changes, message] of bad) {
      await assert.rejects(
        writer.write({ ...valuesOf(1), ...changes } as never),
        { code: "bad-value", sample: 1, message },
      );
    }
    const { n: _, ...missing } = valuesOf(1);
    await assert.rejects(writer.write(missing), {
      code: "bad-datapoint",
      message: /has no 'n'/,
    });
    await assert.rejects(writer.write({ ...valuesOf(1), x: 1 }), {
      code: "bad-datapoint",
      message: /no column 'x'/,
    });
    await writer.write(valuesOf(2));
    await writer.close();
    using reader = await openMds(path);
    assert.equal(reader.length, 2);
    assert.equal((await reader.get(1, { fields: ["n"] }))["n"], 2);
    await assert.rejects(
      MDSWriter.open(`${dir}/x`, { columns: { a: "list[str]" } }),
      {
        code: "bad-spec",
        message: /unknown encoding .* Use one of bytes, str/,
      },
    );
    await assert.rejects(MDSWriter.open(`${dir}/x`, { columns: {} }), {
      code: "bad-spec",
    });
  }));

pythonTest(
  "any format becomes samples that Python reads",
  () =>
    withTempDir(async (dir) => {
      const plan = async (
        source: string,
        target: string,
        options: Parameters<typeof convert>[2] = {},
      ) => {
        let changed: readonly string[] = [];
        const report = await convert(source, target, {
          to: "mds",
          onPlan: (plan) => changed = plan.changed,
          ...options,
        });
        return { report, changed: changed.join("\n") };
      };
      // Files without a sample structure become one sample each.
      const folder = `${REPOSITORY}test/recipes/just_a_folder`;
      const files = await plan(folder, `${dir}/files`);
      assert.match(
        files.changed,
        /each file becomes a sample, .* path \(str\), content/,
      );
      const inFolder = await inPython(`${dir}/files`);
      assert.ok(inFolder.length > 2);
      for (const { path, content } of inFolder) {
        const bytes = fs.readFileSync(`${folder}/${path![1]}`);
        assert.deepEqual(content, ["bytes", { hex: bytes.toString("hex") }]);
      }

      // Samples of WebDataset.
      const web = await plan(tarCase("shards").path, `${dir}/web`, {
        lossy: true,
        shardLength: 2,
      });
      assert.match(
        web.changed,
        /__key__ \(str\), cls \(str_int\), txt \(str\)/,
      );
      const first = (await inPython(`${dir}/web`))[0]!;
      assert.ok("__key__" in first);

      // A dataset directly, and as extracted files.
      const { path, content: { samples } } = mdsCase("plain");
      await plan(path, `${dir}/own`, { shardSize: 20_000 });
      assert.deepEqual(await inPython(`${dir}/own`), await inPython(path));
      await convert(`${dir}/own`, `${dir}/folder/`);
      const shown = await plan(`${dir}/folder`, `${dir}/third`);
      assert.match(shown.changed, /each directory becomes a sample/);
      assert.deepEqual(
        (await inPython(`${dir}/third`)).map((
          { label, name },
        ) => [label, name]),
        samples.map((_, i) => [["json", String(i)], ["str", `näme ${i}`]]),
      );
      await convert(path, `${dir}/third`, { to: "mds", replace: true });

      // Values of Bags, whose types are preserved; JSON cannot represent trees of arrays.
      const bags = `${REPOSITORY}test/golden/granular3/types/data`;
      await assert.rejects(convert(bags, `${dir}/bags`, { to: "mds" }), {
        code: "would-lose",
        message: /the field 'tree', whose values cannot be written as JSON/,
      });
      const points = await plan(bags, `${dir}/bags`, { lossy: true });
      assert.match(points.changed, /img \(png\), jpg \(jpeg\), num \(int\)/);
      using dataset = DatasetReader.openSync(bags, { decoders: null });
      using values = DatasetReader.openSync(bags, {
        decoders: { ...decodersOf(3), png: (png) => png, jpg: (jpg) => jpg },
      });
      const written = await inPython(`${dir}/bags`);
      assert.equal(written.length, dataset.length);
      for (const [i, point] of written.entries()) {
        const { img } = dataset.readSync([i])[0] as Record<string, Uint8Array>;
        const { text } = values.readSync([i])[0] as Record<string, string>;
        assert.deepEqual(point["img"], ["png", { hex: img!.toHex() }]);
        assert.deepEqual(point["text"], ["str", text]);
      }

      // Records have no names.
      await convert(path, `${dir}/records.tfrecord`, { lossy: true });
      const records = await plan(`${dir}/records.tfrecord`, `${dir}/records`);
      assert.match(records.changed, /columns content \(bytes\)/);
      assert.equal(records.report.count, 7);
    }),
);

pythonTest(
  "JSON is written like Python's json.dumps: words for non-finite numbers, exact integers, -0.0, escapes",
  () =>
    withTempDir(async (dir) => {
      const values = [
        { n: NaN, more: [Infinity, -Infinity, -0, 0, 1.5, 1e22] },
        { big: 2n ** 60n + 1n, text: 'ä\u{1f600}"', none: null, yes: true },
        [],
        -0,
      ];
      const path = `${dir}/j`;
      await using writer = await MDSWriter.open(path, {
        columns: { j: "json" },
      });
      for (const j of values) await writer.write({ j });
      await assert.rejects(
        writer.write({ j: { a: undefined } as never }),
        /'j': JSON cannot hold undefined \(at value\.a\)/,
      );
      await writer.close();
      using reader = await openMds(path);
      for (const [i, j] of values.entries()) {
        assert.deepEqual((await reader.get(i))["j"], j);
      }
      const script = "import json, mds, sys\n" +
        "for sample in mds.read(sys.argv[1]):\n" +
        "  [(encoding, data)] = sample.values()\n" +
        "  assert json.dumps(mds.decode(encoding, data)) == data.decode(), data\n";
      const { success, stderr } = await new Deno.Command(PYTHON, {
        args: ["-B", "-c", script, path],
        env: { PYTHONPATH: `${REPOSITORY}test/formats/mds/python` },
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    }),
);
