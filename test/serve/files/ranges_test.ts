import assert from "node:assert/strict";
import { MOST_RANGES, rangesOf } from "../../../src/serve/files/ranges.ts";
import { ServeError } from "../../../src/serve/serve_error.ts";

/** Range of a 10-byte file that is sent, as `start-end` with an exclusive end; `all`, or the code of an error. */
const CASES: Readonly<Record<string, string>> = {
  "bytes=0-0": "0-1",
  "bytes=2-4": "2-5",
  "bytes=2-": "2-10",
  "bytes=-3": "7-10",
  "bytes=-30": "0-10",
  "bytes=9-9": "9-10",
  "bytes=5-99999999999999999999999999": "5-10",
  "bytes=-99999999999999999999999999": "0-10",
  "BYTES = 1-2": "1-3",
  "bytes=0-1,4-5": "0-2 4-6",
  "bytes=4-5, 0-1": "4-6 0-2", // in the requested order
  "bytes=0-1,,4-5,": "0-2 4-6",
  "bytes=0-4,2-6": "0-7", // overlapping
  "bytes=0-4,5-6": "0-7", // adjacent
  "bytes=0-1,20-30": "0-2",
  "bytes=10-": "no-such-range",
  "bytes=10-11,20-": "no-such-range",
  "bytes=-0": "no-such-range",
  "bytes=": "no-such-range",
  "bytes=,": "no-such-range",
  "bytes=99999999999999999999999999-": "no-such-range",
  "bytes=5-4": "all", // RFC 9110, 14.1.1: not a valid range
  "bytes=a-b": "all",
  "bytes=0-1;2-3": "all",
  "bytes=1": "all",
  "bytes=-": "all",
  "bytes=--1": "all",
  "bytes=0x1-2": "all",
  "bytes=1.5-2": "all",
  "lines=0-1": "all",
  "bytes": "all",
  "": "all",
};

Deno.test("ranges follow RFC 9110, within the file", () => {
  for (const [header, expected] of Object.entries(CASES)) {
    assert.equal(outcome(header, 10), expected, header);
  }
  assert.equal(rangesOf(null, 10), undefined);
  assert.equal(outcome("bytes=0-", 0), "no-such-range");
  assert.equal(outcome("bytes=-5", 0), "no-such-range");
});

Deno.test("too many ranges are rejected, however they are written", () => {
  const many = (count: number) =>
    `bytes=${Array.from({ length: count }, (_, i) => `${3 * i}-${3 * i}`)}`;
  assert.equal(rangesOf(many(MOST_RANGES), 1e6)!.length, MOST_RANGES);
  assert.equal(outcome(many(MOST_RANGES + 1), 1e6), "too-many-ranges");
  assert.equal(outcome(many(10_000), 1e6), "too-many-ranges");
  assert.equal(
    outcome(`bytes=${",".repeat(10_000)}0-1`, 10),
    "too-many-ranges",
  );
});

function outcome(header: string, size: number): string {
  try {
    const ranges = rangesOf(header, size);
    return ranges === undefined
      ? "all"
      : ranges.map(({ start, end }) => `${start}-${end}`).join(" ");
  } catch (error) {
    assert.ok(error instanceof ServeError);
    assert.equal(error.status, 416);
    return error.code;
  }
}
