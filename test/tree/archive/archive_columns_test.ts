import assert from "node:assert/strict";
import {
  columnsToKeep,
  keptColumns,
} from "../../../src/tree/archive/archive_columns.ts";

Deno.test("groups of columns are cached flat, and restored as groups", () => {
  const columns = {
    sizes: Float64Array.of(1, 2),
    names: { names: Uint8Array.of(3), refs: Uint32Array.of(), none: undefined },
    faults: Uint8Array.of(0),
  };
  const flat = columnsToKeep(columns);
  assert.deepEqual(
    Object.keys(flat),
    ["sizes", "names.names", "names.refs", "faults"],
  );
  const { none: _, ...names } = columns.names;
  assert.deepEqual(keptColumns(flat), { ...columns, names });
});

Deno.test("a column may have the name of an object's own property", () => {
  const column = Uint8Array.of(1);
  const made = keptColumns(Object.fromEntries([["__proto__.names", column]]));
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
  assert.equal("names" in {}, false);
});
