/** Files that pyarrow wrote, against what pyarrow reads of them. */
import assert from "node:assert/strict";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import type { TableRow } from "../../../src/tree/rows/row_samples.ts";
import { arrowCases } from "../../support/arrow/arrow_golden.ts";
import { rowsOf } from "../../support/parquet/parquet_golden.ts";

for (const one of arrowCases()) {
  Deno.test(`${one.name}: rows have the values that pyarrow reads`, async () => {
    using reader = await openSamples<TableRow, TableRow>(one.path);
    assert.equal(reader.length, one.content.rows);
    const expected = rowsOf(one);
    const rows = await reader.read(expected.keys());
    for (const [i, row] of rows.entries()) {
      assert.deepEqual(Object.values(row), expected[i], `row ${i}`);
    }
  });
}
