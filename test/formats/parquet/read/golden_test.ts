/** Files that pyarrow wrote, against what pyarrow reads of them. */
import assert from "node:assert/strict";
import { ParquetReader } from "../../../../src/formats/parquet/mod.ts";
import {
  type ParquetCase,
  parquetCases,
  rowsOf,
} from "../../../support/parquet/parquet_golden.ts";

for (const one of parquetCases()) {
  Deno.test(`${one.name}: rows have the values that pyarrow reads`, async () => {
    using reader = await ParquetReader.open(one.path);
    await compare(reader, one);
  });
}

async function compare(reader: ParquetReader, one: ParquetCase): Promise<void> {
  assert.equal(reader.length, one.content.rows);
  const expected = rowsOf(one);
  const rows = await reader.read(expected.keys());
  for (const [i, row] of rows.entries()) {
    assert.deepEqual(Object.values(row), expected[i], `row ${i}`);
  }
}
