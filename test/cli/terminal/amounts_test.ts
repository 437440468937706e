import assert from "node:assert/strict";
import {
  counted,
  formatBytes,
  rateAfter,
} from "../../../src/cli/terminal/amounts.ts";

Deno.test("amounts of data have a unit that suits them", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [79, "79 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [999_940, "999.9 kB"],
    [999_951, "1.0 MB"],
    [123_456_789, "123.5 MB"],
    [1.5e9, "1.5 GB"],
    [2e15, "2000.0 TB"],
  ];
  for (const [bytes, text] of cases) assert.equal(formatBytes(bytes), text);
});

Deno.test("too little work has no rate", () => {
  const cases: [number, number, string][] = [
    [0, 0, ""],
    [0, 10, ""],
    [5, 0, ""],
    [5, 0.3, ""],
    [1e9, 0, ""],
    [1e9, 0.05, ""],
    [5, NaN, ""],
    [500_000, 2, ", 250.0 kB/s"],
    [1e6, 0.1, ", 10.0 MB/s"],
    [3e9, 2, ", 1.5 GB/s"],
  ];
  for (const [bytes, seconds, text] of cases) {
    assert.equal(rateAfter(bytes, seconds), text);
  }
});

Deno.test("one is singular, and zero is plural", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "file")),
    ["0 files", "1 file", "2 files"],
  );
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "entry", "entries")),
    ["0 entries", "1 entry", "2 entries"],
  );
});
