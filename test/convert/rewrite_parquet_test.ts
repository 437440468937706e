/** Parquet that becomes Parquet with other row groups, as shards, or in part: types and values stay, for other programs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import { check, convert, openSamples } from "../../mod.ts";
import {
  parquetCase,
  parquetCases,
} from "../support/parquet/parquet_golden.ts";
import { withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

const QUIET = { onWarning() {} };

/** Writes a table of all kinds of types: SCRIPT FILE. */
const WRITE = `
import datetime as dt, decimal, sys
import pyarrow as pa, pyarrow.parquet as pq
n = 100
day, us = dt.date(2024, 2, 28), dt.timedelta(microseconds=1)
moment = dt.datetime(1969, 12, 31, 23, 59, 59, 999_000)
or_none = lambda make: [None if i % 7 == 3 else make(i) for i in range(n)]
moments = or_none(lambda i: moment + i * i * 1000 * us * 1000)
nested = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.int16()))), ("t", pa.timestamp("ms", "UTC"))]))
def item(i):
    return {"m": [("k%d" % k, None if k == 1 else [k, None][: k]) for k in range(i % 4)], "t": None if i % 3 else moment}
columns = {
    "date": (pa.date32(), or_none(lambda i: day + i * dt.timedelta(1))),
    "seconds": (pa.timestamp("s"), or_none(lambda i: dt.datetime(1900, 1, 1) + i * dt.timedelta(1))),
    "millis": (pa.timestamp("ms", "Europe/Berlin"), moments),
    "micros": (pa.timestamp("us"), moments),
    "nanos": (pa.timestamp("ns", "UTC"), pa.array(or_none(lambda i: i * 10**9 + i), pa.int64())),
    "time": (pa.time64("us"), or_none(lambda i: dt.time(i % 24, 1, 2, i))),
    "duration": (pa.duration("ms"), or_none(lambda i: dt.timedelta(milliseconds=i))),
    "price": (pa.decimal128(38, 10), or_none(lambda i: decimal.Decimal(i - 50) / 16)),
    "large_price": (pa.decimal256(60, 2), or_none(lambda i: decimal.Decimal(10) ** 50 + i)),
    "small_price": (pa.decimal128(5, 2), or_none(lambda i: decimal.Decimal(i) / 4)),
    "flag": (pa.bool_(), or_none(lambda i: i % 3 == 0)),
    "half": (pa.float16(), or_none(lambda i: i / 4)),
    "u8": (pa.uint8(), or_none(lambda i: i + 100)),
    "u64": (pa.uint64(), or_none(lambda i: 2**64 - 1 - i)),
    "word": (pa.dictionary(pa.int8(), pa.string()), or_none(lambda i: "word %d" % (i % 5))),
    "text": (pa.large_string(), or_none(lambda i: "ä" * i)),
    "fixed": (pa.binary(3), or_none(lambda i: bytes([i, 0, 255]))),
    "nothing": (pa.null(), [None] * n),
    "pair": (pa.list_(pa.float64(), 2), [[i, -0.0] for i in range(n)]),
    "box": (pa.struct([("x", pa.int32()), ("in", pa.struct([("y", pa.date32())]))]),
            or_none(lambda i: {"x": i, "in": None if i % 2 else {"y": day}})),
    "nested": (nested, or_none(lambda i: [None if k == 2 else item(i + k) for k in range(i % 5)])),
}
fields = [pa.field(name, kind, metadata={"of": name}) for name, (kind, _) in columns.items()]
fields.append(pa.field("id", pa.int64(), nullable=False))
arrays = [v.cast(k) if isinstance(v, pa.Array) else pa.array(v, k) for k, v in columns.values()]
arrays.append(pa.array(range(n), pa.int64()))
table = pa.table(arrays, schema=pa.schema(fields, metadata={"about": "types"}))
pq.write_table(table, sys.argv[1], row_group_size=37, data_page_size=200, **eval(sys.argv[2]))
`;

/** Compares tables, TARGET and SOURCE, and prints what differs; a third argument lists the rows of the source. */
const COMPARE = `
import json, sys
import pyarrow as pa, pyarrow.parquet as pq
for made, source, rows, group in json.load(sys.stdin):
    made = pq.ParquetFile(made)
    source = pa.concat_tables([pq.ParquetFile(path).read() for path in source])
    sizes = [made.metadata.row_group(g).num_rows for g in range(made.metadata.num_row_groups)]
    if group and not all(s == group for s in sizes[:-1]): print('groups', sizes)
    new = made.read()
    if not new.schema.equals(source.schema, check_metadata=True): print('schema', made, new.schema, source.schema)
    if rows is not None: source = source.take(rows)
    if new.num_rows != source.num_rows: print('rows', new.num_rows)
    for name, *columns in zip(source.schema.names, new.columns, source.columns):
        decode = lambda c: c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c
        one, other = [decode(column) for column in columns]
        # NaN equals nothing, and nanoseconds are no values of Python.
        if not one.equals(other) and repr(one.to_pylist()) != repr(other.to_pylist()): print('values', name)
`;

type Comparison = readonly [
  made: string,
  source: readonly string[],
  rows: readonly number[] | null,
  group: number | null,
];

async function python(
  script: string,
  args: string[],
  input = "",
): Promise<string> {
  const child = new Deno.Command(PYTHON, {
    args: ["-c", script, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return decoder.decode(stdout) + decoder.decode(stderr);
}

/** Rows and types of tables, as DuckDB reads them. */
async function duckdb(...paths: string[]): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const read: unknown[] = [];
  for (const path of paths) {
    const from = `read_parquet('${path}')`;
    const types = await connection.runAndReadAll(
      `DESCRIBE SELECT * FROM ${from}`,
    );
    const rows = await connection.runAndReadAll(`SELECT * FROM ${from}`);
    read.push({ types: types.getRowsJson(), rows: rows.getRowsJson() });
  }
  connection.closeSync();
  instance.closeSync();
  return read;
}

function filesOf(path: string): string[] {
  if (!fs.statSync(path).isDirectory()) return [path];
  return fs.readdirSync(path).filter((name) => name.endsWith(".parquet")).sort()
    .map((name) => `${path}/${name}`);
}

Deno.test({
  name:
    "golden tables with other row groups have the same types and values (needs pyarrow)",
  ...needs("python3", "pyarrow"),
  fn: () =>
    withTempDir(async (dir) => {
      const comparisons: Comparison[] = [];
      for (const { name, path } of parquetCases()) {
        // PyArrow does not read columns of one name, and none is no sample.
        if (name === "duplicates" || name === "no_columns") continue;
        const target = `${dir}/${name}.parquet`;
        const { plan, count } = await convert(path, target, {
          ...{ ...QUIET, rowGroup: 7 },
        });
        assert.deepEqual(plan.lost, [], name);
        assert.match(plan.kept.join(), /their types/);
        comparisons.push([target, filesOf(path), null, 7]);
        using samples = await openSamples(target);
        assert.equal(samples.length, count);
        assert.deepEqual((await check(target)).damage, [], name);
      }
      assert.ok(comparisons.length > 25);
      assert.equal(await python(COMPARE, [], JSON.stringify(comparisons)), "");
    }),
});

for (
  const options of [
    "{}",
    "{'compression': 'zstd', 'data_page_version': '2.0', 'use_dictionary': False}",
    "{'compression': 'gzip', 'use_deprecated_int96_timestamps': True}",
    "{'compression': 'lz4', 'store_schema': False, 'write_page_index': True}",
  ]
) {
  Deno.test({
    name:
      `row groups, shards and subsets keep dates, decimals and structures, written with ${options} (needs pyarrow)`,
    ...needs("python3", "pyarrow"),
    fn: () =>
      withTempDir(async (dir) => {
        const source = `${dir}/source.parquet`;
        assert.equal(await python(WRITE, [source, options]), "");
        const groups = `${dir}/groups.parquet`;
        const { plan } = await convert(source, groups, { rowGroup: 9 });
        assert.deepEqual(plan.lost, []);
        const part = `${dir}/part.parquet`;
        const subset = [0, 1, 36, 37, 50, 52, 99];
        const { count } = await convert(source, part, { subset });
        assert.equal(count, subset.length);
        const shards = `${dir}/shards`;
        await convert(source, shards, { to: "parquet", shardLength: 30 });
        const files = filesOf(shards);
        assert.equal(files.length, 4);
        const rows = Array.from({ length: 100 }, (_, i) => i);
        const comparisons: Comparison[] = [
          [groups, [source], null, 9],
          [part, [source], subset, null],
          ...files.map((file, i): Comparison => [
            ...[file, [source]] as const,
            ...[rows.slice(30 * i, 30 * i + 30), null] as const,
          ]),
        ];
        const input = JSON.stringify(comparisons);
        assert.equal(await python(COMPARE, [], input), "");
        const [before, after, ofShards] = await duckdb(
          ...[source, groups, `${shards}/*.parquet`],
        );
        assert.deepEqual(after, before);
        assert.deepEqual(ofShards, before);
      }),
  });
}

Deno.test("a damaged page is an error, and with lossy its rows are skipped", () =>
  withTempDir(async (dir) => {
    const { path } = parquetCase("none_v1");
    const source = `${dir}/source.parquet`;
    const bytes = fs.readFileSync(path);
    using whole = await openSamples(path);
    bytes.fill(0xff, 4, 40); // the first page of the first column
    fs.writeFileSync(source, bytes);
    const target = `${dir}/target.parquet`;
    await assert.rejects(convert(source, target, { ...QUIET, rowGroup: 10 }));
    assert.ok(!fs.existsSync(target));
    const { count, leftOut } = await convert(source, target, {
      ...{ ...QUIET, rowGroup: 10, lossy: true },
    });
    assert.ok(leftOut > 0);
    assert.equal(count + leftOut, whole.length);
  }));
