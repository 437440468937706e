/** Files written by pyarrow, compared with what pyarrow reads. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import type { TableRow } from "../../../../src/tree/rows/row_samples.ts";
import type { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import assert from "node:assert/strict";
import {
  type ParquetCase,
  parquetCase,
  parquetCases,
  rowsOf,
} from "../../../support/parquet/parquet_golden.ts";

for (const one of parquetCases()) {
  Deno.test(`${one.name}: rows have the values that pyarrow reads`, async () => {
    using reader = await openRows(one.path);
    await compare(reader, one);
  });
}

async function compare(
  reader: OpenedSamples<TableRow, TableRow>,
  one: ParquetCase,
): Promise<void> {
  assert.equal(reader.length, one.content.rows);
  const expected = rowsOf(one);
  const rows = await reader.read(expected.keys());
  for (const [i, row] of rows.entries()) {
    assert.deepEqual(Object.values(row), expected[i], `row ${i}`);
  }
}

Deno.test("columns and lists of integers have the width that the file declares", async () => {
  const widths = ["int8", "int16", "int32", "int64"];
  const names = [...widths, ...widths.map((name) => `u${name}`)];
  using rows = await openRows(parquetCase("types").path);
  const scalars = rows.fields!.filter(({ name }) => names.includes(name))
    .map(({ name, type }) => [name, type.name, type.scalar]);
  assert.deepEqual(scalars, names.map((name) => [name, name, name]));
  using nested = await openRows(parquetCase("nested_types").path);
  for (const name of ["int8", "uint8", "uint16"]) {
    const { type } = nested.fields!.find((one) => one.name === `list_${name}`)!;
    assert.deepEqual([type.name, type.elements], [`list<${name}>`, name]);
  }
});
