/** Columns that are read in parts: any range of their rows has the values of the whole. */
import {
  binary,
  bool,
  float64,
  int32,
  list,
  struct,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import type { TableRow } from "../../../src/tree/rows/row_samples.ts";
import { arrowBytes, type Columns } from "../../support/arrow/make_arrow.ts";
import { asked, serving } from "../../support/remote/serving.ts";

const ROWS = 1003;
const TEXT = "some text that is longer than nothing, ".repeat(150);

/** Columns of more than a MiB each, with nulls, so that parts begin anywhere in bitmaps and lists. */
function largeColumns(): Columns {
  const rows = Array.from({ length: ROWS }, (_, i) => i);
  const or = <T>(i: number, value: T) => i % 7 === 3 ? null : value;
  const listOf = (i: number) =>
    Array.from({ length: i * 37 % 900 }, (_, k) => k % 11 === 5 ? null : i + k);
  return {
    bytes: [
      binary(),
      rows.map((i) => or(i, new Uint8Array(i * 13 % 4000).fill(i))),
    ],
    text: [utf8(), rows.map((i) => or(i, TEXT.slice(0, i * 31 % TEXT.length)))],
    lists: [list(int32()), rows.map((i) => or(i, listOf(i)))],
    flags: [
      list(bool()),
      rows.map((i) => or(i, listOf(i * 21).map((n) => n && n % 3 === 0))),
    ],
    structs: [
      struct({ a: list(float64()), b: utf8() }),
      rows.map((i) => or(i, { a: or(i + 1, listOf(i)), b: or(i + 2, `${i}`) })),
    ],
  };
}

const COLUMNS = largeColumns();
const NAMES = Object.keys(COLUMNS);

/** A value as a row has it. */
function expectedOf(name: string, row: number): unknown {
  const value = COLUMNS[name]![1][row];
  return name === "structs" && value !== null
    ? { __proto__: null, ...value as object }
    : value;
}

for (const format of ["file", "stream"] as const) {
  Deno.test(`rows of large columns of a ${format} are read by themselves, in any order`, async () => {
    const bytes = arrowBytes(COLUMNS, format) as Uint8Array<ArrayBuffer>;
    const storage = new MemoryStorage({ "x.arrow": bytes });
    using samples = await openSamples<TableRow, TableRow>("x.arrow", {
      storage,
      pageCacheSize: 4 << 20, // so that parts are read again
    });
    assert.equal(samples.length, ROWS);
    const indices = fc.array(fc.nat(ROWS - 1), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(indices, fc.subarray(NAMES), async (indices, fields) => {
        const rows = await samples.read(indices, { fields });
        for (const [i, row] of rows.entries()) {
          assert.deepEqual(Object.keys(row), fields);
          for (const name of fields) {
            assert.deepEqual(row[name], expectedOf(name, indices[i]!), name);
          }
        }
      }),
      { numRuns: 60 },
    );
    for (const i of [0, 1, ROWS - 2, ROWS - 1]) {
      const row = await samples.read(i);
      for (const name of NAMES) {
        assert.deepEqual(row[name], expectedOf(name, i), name);
      }
    }
  });
}

Deno.test("of a file on a server, a row of a large column takes the bytes around it", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const data = Array.from(
      { length: 24 },
      (_, i) => new Uint8Array(1 << 20).fill(i),
    );
    const whole = arrowBytes({ data: [binary(), data] });
    fs.writeFileSync(`${dir}/a.arrow`, whole);
    using reader = await openSamples<TableRow, TableRow>(
      `${server.url}/a.arrow`,
      { remote },
    );
    assert.equal(reader.length, 24);
    const opened = asked(served);
    assert.ok(
      opened.count <= 4 && opened.bytes <= 1 << 20,
      `${opened.count} requests, ${opened.bytes} bytes`,
    );
    server.asked.length = 0;
    const row = await reader.read(17);
    assert.deepEqual(row["data"], data[17]);
    const { count, bytes } = asked(served);
    assert.ok(
      count <= 4 && bytes <= 3 << 20,
      `${count} requests, ${bytes} bytes`,
    );
  }));
