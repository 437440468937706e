/**
 * Values of Parquet files according to PyArrow, compared with those of recordfs, and with those that other packages
 * read after conversion.
 */
import assert from "node:assert/strict";
import { convert } from "../../src/open/convert/convert.ts";
import { parquetCases } from "../support/parquet/parquet_golden.ts";
import { openRows } from "../support/parquet/open_rows.ts";
import { FULL_COLUMNS } from "../support/peers/arrow_columns.ts";
import { writeArrowFiles } from "../support/peers/arrow_files.ts";
import {
  arrowRows,
  arrowSamples,
  exampleSamples,
  granularSamples,
  pythonJson,
  webdatasetSamples,
} from "../support/peers/python_readers.ts";
import {
  alignedTo,
  classOf,
  plainOf,
  type PythonSample,
  type PythonValue,
} from "../support/peers/python_values.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";

const QUIET = { onWarning() {} };

/** Asserts that a value equals PyArrow's, whatever their classes. */
function assertSame(actual: unknown, arrow: PythonValue, what: string): void {
  assert.deepEqual(alignedTo(actual, arrow), plainOf(arrow), what);
}

async function assertRows(paths: readonly string[]): Promise<void> {
  for (const [file, rows] of (await arrowRows(paths)).entries()) {
    const path = paths[file]!;
    using samples = await openRows(path, QUIET);
    assert.equal(samples.length, rows.length, path);
    const own = await samples.read(rows.keys());
    for (const [i, { names, values }] of rows.entries()) {
      const found = Object.values(own[i]!);
      assert.equal(found.length, names.length, path);
      for (const [column, name] of names.entries()) {
        const what = `${path}: '${name}' of row ${i}`;
        assertSame(found[column], values[column]!, what);
      }
    }
  }
}

Deno.test({
  name: "PyArrow reads the same values of the Parquet files of the tests",
  ...needs("python3", "pyarrow"),
  async fn() {
    const paths = parquetCases().flatMap(({ path }) =>
      path.endsWith(".parquet")
        ? [path]
        : [...Deno.readDirSync(path)].map(({ name }) => `${path}/${name}`)
    );
    assert.ok(paths.length > 30);
    await assertRows(paths);
  },
});

Deno.test({
  name: "PyArrow reads the same values of all types, with and without nulls",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full, gaps } = await writeArrowFiles(dir);
      await assertRows([full, gaps]);
    }),
});

/** SQL forms of columns without a JavaScript equivalent: text, lists of texts, or pairs. */
const ASKED: readonly (readonly [columns: RegExp, form: string])[] = [
  [/^(decimal\d+|date|time_.*|stamp_.*|uuid|when)$/, "NAME::varchar"],
  [/^(decimals|dates|stamps)$/, "NAME::varchar[]"],
  [/^map$/, "map_entries(NAME)"],
];

/** Converts a DuckDB value to the form of PyArrow's. */
function fromDuck(value: unknown): unknown {
  if (value instanceof Uint8Array) return Uint8Array.from(value); // not a Buffer
  if (Array.isArray(value)) {
    return value.map((one) =>
      typeof one?.key === "string" ? [one.key, one.value] : fromDuck(one)
    );
  }
  if (typeof value !== "string") return value;
  return value.replace(/^(\d{4}-\d\d-\d\d) (\d\d:)/, "$1T$2")
    .replace(/(:\d\d(?:\.\d+)?)\+00$/, "$1Z");
}

Deno.test({
  name: "DuckDB and PyArrow read the same values of all types",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full, gaps } = await writeArrowFiles(dir);
      const { DuckDBInstance } = await import("@duckdb/node-api");
      const instance = await DuckDBInstance.create(":memory:");
      const connection = await instance.connect();
      await connection.run("set TimeZone = 'UTC'");
      for (const [file, rows] of (await arrowSamples([full, gaps])).entries()) {
        // DuckDB has decimals of at most 38 digits.
        const columns = Object.keys(rows[0]!).filter((name) =>
          name !== "decimal76"
        );
        const asked = columns.map((column) => {
          const form = ASKED.find(([columns]) => columns.test(column));
          return (form?.[1] ?? "NAME").replaceAll("NAME", `"${column}"`);
        });
        const found = await connection.runAndReadAll(
          `select ${asked} from read_parquet('${[full, gaps][file]}')`,
        );
        assert.equal(found.getRowsJS().length, rows.length);
        for (const [i, values] of found.getRowsJS().entries()) {
          for (const [number, column] of columns.entries()) {
            const value = fromDuck(values[number]);
            const what = `'${column}' of row ${i}`;
            const arrow = rows[i]![column]!;
            const like = typeof arrow === "string"
              ? arrow.replace(/^\ufeff/, "") // lost in DuckDB's JavaScript strings
              : arrow;
            assertSame(value, like, what);
          }
        }
      }
      connection.closeSync();
      instance.closeSync();
    }),
});

Deno.test({
  name: "granular reads PyArrow's values of converted Parquet",
  ...needs("python3", "pyarrow", "granular"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full } = await writeArrowFiles(dir);
      await convert(full, `${dir}/bags`, { to: "bags", ...QUIET });
      const [expected] = await arrowSamples([full]);
      const [found] = await granularSamples([`${dir}/bags`]);
      assert.equal(found!.length, expected!.length);
      for (const [i, sample] of found!.entries()) {
        assert.equal(
          Object.keys(sample).length,
          Object.keys(FULL_COLUMNS).length,
        );
        for (const [column, { bags }] of Object.entries(FULL_COLUMNS)) {
          const value = sample[column.replace("/", "_").toLowerCase()]!;
          assert.equal(classOf(value), bags, column);
          assertSame(plainOf(value), expected![i]![column]!, column);
        }
      }
    }),
});

Deno.test({
  name: "webdataset reads PyArrow's values of converted Parquet",
  ...needs("python3", "pyarrow", "webdataset"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full, gaps } = await writeArrowFiles(dir);
      for (const path of [full, gaps]) {
        await convert(path, `${path}.tar`, QUIET);
      }
      const [expected, sparse] = await arrowSamples([full, gaps]);
      const [found, some] = await webdatasetSamples([
        `${full}.tar`,
        `${gaps}.tar`,
      ]);
      assert.equal(found!.length, expected!.length);
      for (const [i, { __key__, ...sample }] of found!.entries()) {
        assert.equal(__key__, `00000${i}`);
        assert.equal(
          Object.keys(sample).length,
          Object.keys(FULL_COLUMNS).length,
        );
        for (const [column, { tar }] of Object.entries(FULL_COLUMNS)) {
          const [suffix, kind] = tar;
          const name = column.replace("/", "_").toLowerCase() + suffix;
          assert.equal(classOf(sample[name]!), kind, name);
          assertSame(plainOf(sample[name]!), expected![i]![column]!, name);
        }
      }
      assertPresent(some!, sparse!, (column) => SPARSE_MEMBERS[column]!);
    }),
});

/** Members for the columns of `gaps.parquet`. */
const SPARSE_MEMBERS: Readonly<Record<string, string>> = {
  id: "id",
  int: "int.cls",
  text: "text",
  flag: "flag.json",
  real: "real.json",
  blob: "blob",
  list: "list.json",
  struct: "struct.json",
  when: "when.txt",
};

/** Compares samples in which fields that were `null` are missing. */
function assertPresent(
  found: readonly PythonSample[],
  expected: readonly PythonSample[],
  nameOf: (column: string) => string,
): void {
  assert.equal(found.length, expected.length);
  for (const [i, { __key__, ...sample }] of found.entries()) {
    const present = Object.entries(expected[i]!).filter(([, value]) =>
      value !== null
    );
    assert.deepEqual(
      Object.keys(sample).sort(),
      present.map(([column]) => nameOf(column)).sort(),
    );
    for (const [column, value] of present) {
      assertSame(plainOf(sample[nameOf(column)]!), value, column);
    }
  }
}

Deno.test({
  name: "protobuf reads PyArrow's values of Parquet converted to TFRecord",
  ...needs("python3", "pyarrow", "protobuf"),
  fn: () =>
    withTempDir(async (dir) => {
      const { full, gaps } = await writeArrowFiles(dir);
      for (const path of [full, gaps]) {
        await convert(path, `${path}.tfrecord`, { lossy: true, ...QUIET });
      }
      const [expected, sparse] = await arrowSamples([full, gaps]);
      const [found, some] = await exampleSamples([
        `${full}.tfrecord`,
        `${gaps}.tfrecord`,
      ]);
      assert.equal(found!.length, expected!.length);
      const texts: string[] = [];
      const trees: PythonValue[] = [];
      for (const [i, sample] of found!.entries()) {
        assert.equal(
          Object.keys(sample).length,
          Object.keys(FULL_COLUMNS).length,
        );
        for (const [column, { example }] of Object.entries(FULL_COLUMNS)) {
          const arrow = expected![i]![column]!;
          const value = featureValue(sample[column]!, arrow, example);
          if (example === "json") {
            texts.push(value as string);
            trees.push(arrow);
          } else assertSame(value, asFeature(arrow), column);
        }
      }
      for (const [i, value] of (await pythonJson(texts)).entries()) {
        assertSame(plainOf(value), trees[i]!, texts[i]!);
      }
      // A list of numbers with a null is not a feature, so that row 1 is skipped.
      assert.deepEqual(
        some!.map(({ id }) => plainOf(id!)),
        [0n, 2n, 3n, 4n].map((id) => ({ int64_list: [id] })),
      );
      const names = [0, 2, 3, 4].map((i) =>
        Object.keys(sparse![i]!).filter((name) => sparse![i]![name] !== null)
          .sort()
      );
      assert.deepEqual(some!.map((one) => Object.keys(one).sort()), names);
    }),
});

/** Returns the feature's content for a value: the text, JSON text, the items of a list, or the only item. */
function featureValue(
  feature: PythonValue,
  arrow: PythonValue,
  example: string,
): unknown {
  const [[kind, values]] = Object.entries(plainOf(feature)!) as [
    [string, unknown[]],
  ];
  assert.equal(kind, example === "json" ? "bytes_list" : example);
  if (example === "json") {
    assert.equal(values.length, 1);
    return new TextDecoder().decode(values[0] as Uint8Array);
  }
  if (Array.isArray(arrow)) {
    return typeof arrow[0] === "boolean" ? values.map((n) => n === 1n) : values;
  }
  assert.equal(values.length, 1);
  const [value] = values;
  if (typeof arrow === "boolean") return value === 1n;
  const isText = value instanceof Uint8Array && classOf(arrow) !== "bytes";
  return isText
    ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(value)
    : value;
}

/** Rounds a PyArrow value, or the items of a list, to 32-bit floats, as features store them. */
function asFeature(arrow: PythonValue): PythonValue {
  if (Array.isArray(arrow)) return arrow.map(asFeature);
  if (classOf(arrow) !== "float") return arrow;
  const { float } = arrow as { float: number | string };
  return { float: typeof float === "number" ? Math.fround(float) : float };
}
