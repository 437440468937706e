/** Files that pyarrow wrote, against what pyarrow reads of them. */
import { openRows } from "../../../support/parquet/open_rows.ts";
import type { ParquetRow } from "../../../../src/formats/parquet/read/row_samples.ts";
import type { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import assert from "node:assert/strict";
import {
  type ParquetCase,
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
  reader: OpenedSamples<ParquetRow, ParquetRow>,
  one: ParquetCase,
): Promise<void> {
  assert.equal(reader.length, one.content.rows);
  const expected = rowsOf(one);
  const rows = await reader.read(expected.keys());
  for (const [i, row] of rows.entries()) {
    assert.deepEqual(Object.values(row), expected[i], `row ${i}`);
  }
}
