/** Samples converted to Parquet: names, types and values as recordfs, PyArrow and DuckDB read them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { dirname } from "node:path";
import { check, openSamples } from "../../mod.ts";
import { writeNpy } from "../../src/codecs/numpy/mod.ts";
import { DatasetWriter, encodersOf } from "../../src/formats/bags/mod.ts";
import { MDSWriter } from "../../src/formats/mds/mod.ts";
import { convert } from "../../src/open/convert/convert.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { FIELDS, SAMPLES, SOURCES } from "../support/typed_samples.ts";

/** Names of fields in WebDataset. */
const EXTENSIONS: Record<string, string> = {
  ...{ count: "count.cls", score: "score.json", whole: "whole.json" },
  ...{ name: "name.txt", blob: "blob", image: "image.jpg" },
  ...{ box: "box.npy", meta: "meta.json" },
};

/** Types that PyArrow reads, by source; JSON if the source has no number type. */
const TYPES: Record<string, Record<string, string>> = {
  mds: { count: "int64", score: "double", whole: "double" },
  bags: { count: "int64", score: "json", whole: "json" },
  tar: { count: "int64", score: "json", whole: "json" },
};

/** Prints the column types and all rows of a table as JSON, with bytes in base64. */
const READ = `
import base64, json, sys
import pyarrow.parquet as pq
file = pq.ParquetFile(sys.argv[1])
table = file.read()
kind = lambda t: 'json' if str(t) == 'extension<arrow.json>' else str(t)
def plain(value):
    if isinstance(value, bytes): return base64.b64encode(value).decode()
    if isinstance(value, list): return [plain(item) for item in value]
    return value
print(json.dumps({
    'types': {name: kind(type) for name, type in zip(table.schema.names, table.schema.types)},
    'groups': [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)],
    'rows': [{key: plain(value) for key, value in row.items()} for row in table.to_pylist()],
}))
`;

interface Table {
  readonly types: Readonly<Record<string, string>>;
  readonly groups: readonly number[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

async function pyarrow(path: string): Promise<Table> {
  const { success, stdout, stderr } = await new Deno.Command(PYTHON, {
    args: ["-c", READ, path],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

const base64 = (bytes: Uint8Array) => bytes.toBase64();

for (const [from, write] of Object.entries(SOURCES)) {
  const isTar = from === "tar";
  const named = (field: string) => isTar ? EXTENSIONS[field]! : field;

  Deno.test({
    name: `PyArrow and DuckDB read the values of ${from} converted to Parquet`,
    ...needs("python3", "pyarrow"),
    fn: () =>
      withTempDir(async (dir) => {
        const source = `${dir}/${isTar ? "source.tar" : "source"}`;
        await write(source);
        const target = `${dir}/made.parquet`;
        const { plan, count } = await convert(source, target);
        assert.deepEqual(plan.lost, []);
        assert.equal(count, SAMPLES.length);
        const { types, rows } = await pyarrow(target);
        const wanted: Record<string, string> = {
          ...TYPES[from],
          ...{ name: "string", blob: "binary", image: "binary" },
          ...{ box: "binary", meta: "json" },
        };
        for (const field of FIELDS) {
          assert.equal(types[named(field)], wanted[field], field);
        }
        assert.equal(rows.length, SAMPLES.length);
        for (const [i, sample] of SAMPLES.entries()) {
          const row = rows[i]!;
          const number = (field: string) => Number(row[named(field)]);
          assert.equal(number("count"), sample.count);
          assert.equal(number("score"), sample.score);
          assert.equal(number("whole"), sample.whole);
          assert.equal(row[named("name")], sample.name);
          assert.equal(row[named("blob")], base64(sample.blob));
          assert.equal(row[named("image")], base64(sample.image));
          assert.equal(row[named("box")], base64(writeNpy(sample.box)));
          const meta = row[named("meta")] as string;
          assert.deepEqual(JSON.parse(meta), sample.meta);
        }
        const duckdb = await DuckDBInstance.create(":memory:");
        const connection = await duckdb.connect();
        const columns = ["count", "name"].map((field) => `"${named(field)}"`);
        const reader = await connection.runAndReadAll(
          `SELECT ${columns}, typeof("${
            named("meta")
          }") FROM read_parquet('${target}')`,
        );
        assert.deepEqual(
          reader.getRows(),
          SAMPLES.map((
            { count, name },
          ) => [BigInt(count), name, "JSON"]),
        );
        connection.closeSync();
        duckdb.closeSync();
      }),
  });

  Deno.test(`openSamples reads the values of ${from} converted to Parquet`, () =>
    withTempDir(async (dir) => {
      const source = `${dir}/${isTar ? "source.tar" : "source"}`;
      await write(source);
      await convert(source, `${dir}/made.parquet`);
      using samples = await openSamples(`${dir}/made.parquet`);
      assert.equal(samples.length, SAMPLES.length);
      const fields = FIELDS.filter((field) => field !== "image");
      for (const [i, sample] of SAMPLES.entries()) {
        const read = await samples.get(i, { fields: fields.map(named) });
        const of = (field: string) => read[named(field)];
        assert.equal(Number(of("count")), sample.count);
        assert.equal(Number(of("score")), sample.score);
        assert.equal(of("name"), sample.name);
        assert.deepEqual(of("blob"), sample.blob);
        assert.deepEqual(JSON.parse(of("meta") as string), sample.meta);
        const raw = await samples.read(i, { fields: [named("image")] });
        assert.deepEqual(
          new Uint8Array(raw[named("image")] as Uint8Array),
          new Uint8Array(sample.image),
        );
      }
    }));
}

Deno.test({
  name: "numbers at the limits of their types, floats and texts are preserved",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const columns = {
        ...{ i8: "int8", u8: "uint8", i16: "int16", u16: "uint16" },
        ...{ i32: "int32", u32: "uint32", i64: "int64", u64: "uint64" },
        ...{ f16: "float16", f32: "float32", f64: "float64", text: "str" },
      } as const;
      const integer = (bits: number, isSigned: boolean) =>
        isSigned
          ? fc.bigInt(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n)
          : fc.bigInt(0n, 2n ** BigInt(bits) - 1n);
      const small = (bits: number, isSigned: boolean) =>
        integer(bits, isSigned).map(Number);
      const sample = fc.record({
        ...{ i8: small(8, true), u8: small(8, false) },
        ...{ i16: small(16, true), u16: small(16, false) },
        ...{ i32: small(32, true), u32: small(32, false) },
        ...{ i64: integer(64, true), u64: integer(64, false) },
        f16: fc.integer({ min: -2048, max: 2048 }).map((n) => n / 8),
        f32: fc.float({ noNaN: true, noDefaultInfinity: true }),
        f64: fc.double({ noNaN: true, noDefaultInfinity: true }),
        text: fc.string({ unit: "grapheme" }),
      });
      const samples = fc.sample(sample, { numRuns: 50, seed: 7 });
      await using writer = await MDSWriter.open(`${dir}/mds`, { columns });
      for (const one of samples) await writer.write(one);
      await writer.close();
      await convert(`${dir}/mds`, `${dir}/x.parquet`, { rowGroup: 20 });
      const { types, groups, rows } = await pyarrow(`${dir}/x.parquet`);
      assert.deepEqual(groups, [20, 20, 10]);
      assert.deepEqual(types, {
        ...columns,
        ...{ f16: "halffloat", f32: "float", f64: "double", text: "string" },
      });
      using made = await openSamples(`${dir}/x.parquet`);
      for (const [i, { i64, u64, ...others }] of samples.entries()) {
        // JSON has no 64-bit integers.
        const { i64: _i, u64: _u, ...row } = rows[i]!;
        assert.deepEqual(row, others);
        const read = await made.get(i);
        assert.deepEqual([read["i64"], read["u64"]], [i64, u64]);
      }
    }),
});

Deno.test({
  name:
    "lists of numbers, texts and bytes are lists, and empty ones are preserved",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const spec = { numbers: "int[]", words: "utf8[]", parts: "bytes[]" };
      const encoders = encodersOf(2);
      const options = { encoders, generation: 2 } as const;
      const datapoints = [
        { numbers: [1, -2, 3], words: ["a", "ä"], parts: [Uint8Array.of(0)] },
        { numbers: [], words: [], parts: [] },
      ];
      const path = `${dir}/bags`;
      await using writer = await DatasetWriter.open(path, spec, options);
      for (const datapoint of datapoints) await writer.write(datapoint);
      await writer.close();
      await convert(path, `${dir}/x.parquet`);
      const { types, rows } = await pyarrow(`${dir}/x.parquet`);
      assert.deepEqual(types, {
        numbers: "list<element: int64>",
        parts: "list<element: binary>",
        words: "list<element: string>",
      });
      assert.deepEqual(
        rows,
        datapoints.map(({ parts, ...others }) => ({
          ...others,
          parts: parts.map(base64),
        })),
      );
    }),
});

/** Prints the differences between a table and the tables it was copied from. */
const COMPARE = `
import sys
import pyarrow as pa, pyarrow.parquet as pq
made, *sources = map(pq.ParquetFile, sys.argv[1:])
tables = [source.read() for source in sources]
if made.schema_arrow != tables[0].schema: print('schema', made.schema_arrow)
rows = [repr(row) for table in tables for row in table.to_pylist()]
if [repr(row) for row in made.read().to_pylist()] != rows: print('rows')
for old, new in zip([s.metadata.row_group(g) for s in sources for g in range(s.metadata.num_row_groups)],
                    [made.metadata.row_group(g) for g in range(made.metadata.num_row_groups)], strict=True):
    for i in range(old.num_columns):
        a, b = old.column(i), new.column(i)
        if (a.compression, a.encodings, a.total_compressed_size) != (b.compression, b.encodings, b.total_compressed_size):
            print('column', i)
`;

const GOLDEN = `${REPOSITORY}test/golden/parquet`;

for (const { name } of fs.readdirSync(GOLDEN, { withFileTypes: true })) {
  const files = fs.readdirSync(`${GOLDEN}/${name}`, { recursive: true })
    .map(String).filter((file) => file.endsWith(".parquet")).sort();
  if (files.length === 0 || name === "duplicates") continue; // PyArrow does not read it
  const paths = files.map((file) => `${GOLDEN}/${name}/${file}`);
  Deno.test({
    name: `the table ${name} is copied unchanged`,
    ...needs("python3", "pyarrow"),
    fn: () =>
      withTempDir(async (dir) => {
        const source = dirname(paths[0]!);
        const target = `${dir}/x.parquet`;
        const { plan, count } = await convert(source, target, {
          onWarning() {},
        });
        assert.deepEqual(plan.lost, []);
        const { stdout, stderr } = await new Deno.Command(PYTHON, {
          args: ["-c", COMPARE, target, ...paths],
        }).output();
        const decoder = new TextDecoder();
        assert.equal(decoder.decode(stdout) + decoder.decode(stderr), "");
        using samples = await openSamples(target);
        assert.equal(samples.length, count);
        const { damage } = await check(target);
        assert.deepEqual(damage, []);
      }),
  });
}

Deno.test({
  name: "missing values are null",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const source = `${GOLDEN}/snappy_v2/snappy_v2.parquet`;
      const target = `${dir}/x.parquet`;
      const options = { onWarning() {}, lossy: true, rowGroup: 64 };
      const { leftOut } = await convert(source, target, options);
      assert.equal(leftOut, 0);
      const nulls = ({ rows }: Table) =>
        rows.map((row) =>
          Object.entries(row).filter(([, value]) => value === null)
            .map(([column]) => column)
        );
      const before = nulls(await pyarrow(source));
      assert.ok(before.flat().length > 0);
      assert.deepEqual(nulls(await pyarrow(target)), before);
    }),
});

Deno.test("shards have the requested number of rows, and are one table again", () =>
  withTempDir(async (dir) => {
    await SOURCES["mds"]!(`${dir}/mds`);
    const options = { to: "parquet", shardLength: 2 };
    await convert(`${dir}/mds`, `${dir}/train`, options);
    assert.deepEqual(fs.readdirSync(`${dir}/train`).sort(), [
      "train-00000-of-00002.parquet",
      "train-00001-of-00002.parquet",
    ]);
    using samples = await openSamples(`${dir}/train`);
    assert.equal(samples.length, 3);
    const names = await Array.fromAsync(
      [0, 1, 2],
      async (i) => (await samples.get(i))["name"],
    );
    assert.deepEqual(names, SAMPLES.map(({ name }) => name));
  }));

Deno.test("an integer that has more than 64 bits is a loss, and skipped with lossy", () =>
  withTempDir(async (dir) => {
    const options = { columns: { n: "str_int" } };
    await using writer = await MDSWriter.open(`${dir}/mds`, options);
    await writer.write({ n: 2n ** 70n });
    await writer.write({ n: 7n });
    await writer.close();
    await assert.rejects(convert(`${dir}/mds`, `${dir}/x.parquet`), {
      message: /1180591620717411303424 is out of the range of int64/,
    });
    assert.ok(!fs.existsSync(`${dir}/x.parquet`));
    const { leftOut, count } = await convert(
      `${dir}/mds`,
      `${dir}/x.parquet`,
      { lossy: true, onWarning() {} },
    );
    assert.deepEqual([leftOut, count], [1, 1]);
  }));

Deno.test("files without fields are rejected", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/folder`);
    fs.writeFileSync(`${dir}/folder/a`, "a");
    await assert.rejects(convert(`${dir}/folder`, `${dir}/x.parquet`), {
      code: "cannot-convert",
      message: /its files are not samples with fields/,
    });
    assert.deepEqual(fs.readdirSync(dir), ["folder"]);
  }));
