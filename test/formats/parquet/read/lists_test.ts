/** Rows of lists: decoded page by page up to the requested row, across pages, and in pages with very many values. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import { CellReader } from "../../../../src/formats/parquet/read/cells.ts";
import { PARQUET_ROWS } from "../../../../src/formats/parquet/read/parquet_rows.ts";
import { openRowSamples } from "../../../../src/tree/rows/row_samples.ts";
import { runAsync, type Steps } from "../../../../src/io/concurrency/steps.ts";
import type { ByteSource } from "../../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../../../src/io/storage/storage.ts";
import {
  dataPage,
  parquetFile,
  sizedLevels,
  Type,
  wordBytes,
} from "../../../support/parquet/make_parquet.ts";
import { varint } from "../../../support/parquet/thrift.ts";

const NAME = "t.parquet";

/** Makes a file of version 1 pages of lists of numbers. */
function listsFile(chunk: readonly number[], values: number, rows: number) {
  return parquetFile({
    schema: [{ 1: { i32: Type.INT32 }, 3: { i32: 2 }, 4: { binary: "n" } }],
    chunk,
    meta: { 5: { i64: values } },
    group: { 3: { i64: rows } },
    footer: { 3: { i64: rows } },
  });
}

/** Returns pages of lists, split after every `size` values, also within rows. */
function pagesOf(rows: readonly (readonly number[])[], size: number) {
  const entries = rows.flatMap((row) =>
    row.length === 0
      ? [{ repetition: 0, definition: 0, value: 0 }]
      : row.map((value, i) => ({
        repetition: i === 0 ? 0 : 1,
        definition: 1,
        value,
      }))
  );
  const pages: number[][] = [];
  for (let at = 0; at < entries.length; at += size) {
    const some = entries.slice(at, at + size);
    const present = some.filter(({ definition }) => definition === 1);
    pages.push(dataPage([
      ...sizedLevels(some.map(({ repetition }) => repetition)),
      ...sizedLevels(some.map(({ definition }) => definition)),
      ...wordBytes(...present.map(({ value }) => value)),
    ], some.length));
  }
  return { pages, values: entries.length };
}

const ROWS = Array.from(
  { length: 40 },
  (_, i) => Array.from({ length: i * 7 % 23 }, (_, k) => 100 * i + k),
);

Deno.test("rows of lists are correct in any order, however they are split into pages", async () => {
  for (const size of [1, 2, 5, 16, 10_000]) {
    const { pages, values } = pagesOf(ROWS, size);
    const bytes = listsFile(pages.flat(), values, ROWS.length);
    const storage = new MemoryStorage({ [NAME]: bytes });
    for (const pageCacheSize of [0, undefined]) {
      for (const order of [[39, 0, 20, 21, 19, 3], [...ROWS.keys()]]) {
        using reader = await openRows(NAME, { storage, pageCacheSize });
        for (const row of order) {
          assert.deepEqual({ ...await reader.read(row) }, { n: ROWS[row] });
        }
        const all = await reader.read(ROWS.keys());
        assert.deepEqual(all.map(({ n }) => n), ROWS);
      }
    }
  }
});

Deno.test("pages that begin within a row, or have other rows than the footer, are rejected", async () => {
  const { pages, values } = pagesOf([[1, 2], [3]], 1);
  const read = async (chunk: number[], values: number, rows: number) => {
    const bytes = listsFile(chunk, values, rows);
    const storage = new MemoryStorage({ [NAME]: bytes });
    using reader = await openRows(NAME, { storage });
    await reader.read(Array(rows).keys());
  };
  await read(pages.flat(), values, 2);
  await assert.rejects(read(pages.slice(1).flat(), 2, 1), {
    message: /continues a row that has not begun/,
  });
  for (const rows of [1, 3]) {
    await assert.rejects(read(pages.flat(), values, rows), {
      message: new RegExp(
        `has 2 rows in its pages, but ${rows} according to the footer`,
      ),
    });
  }
});

/** Returns a storage that records reads of its files. */
function noting(bytes: Uint8Array) {
  const inner = new MemoryStorage({ [NAME]: bytes });
  const reads: { readonly at: number; readonly length: number }[] = [];
  const storage: Storage = {
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
    *open(path): Steps<ByteSource> {
      const source = yield* inner.open(path);
      const { name, size, mtime } = source;
      return {
        name,
        size,
        mtime,
        readAt(into, at, options) {
          reads.push({ at, length: into.length });
          return source.readAt(into, at, options);
        },
        close: () => source.close(),
      };
    },
  };
  return { storage, reads };
}

Deno.test("reading a row of lists decodes the pages up to it, and reading a later row decodes only later pages", async () => {
  // Pages are larger than the reads that look for headers.
  const rows = Array.from({ length: 60 }, (_, i) => Array(100).fill(i));
  const { pages, values } = pagesOf(rows, 500);
  assert.equal(pages.length, 12);
  const { storage, reads } = noting(listsFile(pages.flat(), values, 60));
  const starts: number[] = [];
  let at = 4;
  for (const page of pages) {
    starts.push(at);
    at += page.length;
  }
  const whole = () =>
    new Set(reads.flatMap(({ at, length }) => {
      const page = starts.indexOf(at);
      return page >= 0 && length === pages[page]!.length ? [page] : [];
    }));
  using reader = await openRows(NAME, { storage, pageCacheSize: 0 });
  assert.deepEqual((await reader.read(3))["n"], rows[3]);
  // The last row of a page may continue in the next one.
  assert.deepEqual([...whole()], [0, 1]);
  reads.length = 0;
  assert.deepEqual((await reader.read(27))["n"], rows[27]);
  assert.deepEqual([...whole()], [2, 3, 4, 5, 6]);
  reads.length = 0;
  assert.deepEqual((await reader.read(12))["n"], rows[12]);
  assert.deepEqual([...whole()], [2]);
});

Deno.test("of a page with very many values, only the rows around the requested one are decoded", async () => {
  const [count, each] = [400_000, 3];
  const values = count * each;
  const run = (length: number, level: number) => [...varint(2 * length), level];
  const sized = (runs: number[]) => [...wordBytes(runs.length), ...runs];
  // Bit-packed, each row as 0, 1, 1: 24 levels in 3 bytes.
  const packed = Array(values / 24).fill([0b10110110, 0b01101101, 0b11011011])
    .flat();
  const repetition = [...varint(2 * (values / 8) + 1), ...packed];
  const numbers = Int32Array.from({ length: values }, (_, i) => i);
  const body = [
    ...sized(repetition),
    ...sized(run(values, 1)),
    ...new Uint8Array(numbers.buffer),
  ];
  const bytes = listsFile(dataPage(body, values), values, count);
  const storage = new MemoryStorage({ [NAME]: bytes });
  using reader = await openRows(NAME, { storage });
  const edge = Math.floor((1 << 19) / each); // end of the rows that are decoded first
  const opened = await runAsync(
    openRowSamples(PARQUET_ROWS, [NAME], storage, {}),
  );
  // deno-lint-ignore require-yield
  const open = function* () {
    return opened.sources[0]!;
  };
  const cells = new CellReader(opened.shards.shards, open, true);
  for (const row of [0, edge - 1, edge, edge + 1, 200_000, count - 1]) {
    const { first, rows } = await runAsync(cells.decode(0, 0, row));
    assert.ok(first <= row && row < first + rows.length);
    assert.ok(rows.length <= edge, `${rows.length} rows together`);
    const { n } = await reader.read(row);
    assert.deepEqual(n, [3 * row, 3 * row + 1, 3 * row + 2]);
  }
});
