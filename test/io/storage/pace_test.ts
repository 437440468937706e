import assert from "node:assert/strict";
import { Pace } from "../../../src/io/storage/pace.ts";

/** Has a pace decide on reads that take so many ms, and counts those it did without waiting. */
function atOnce(pace: Pace, took: (read: number) => number, reads: number) {
  let count = 0;
  for (let i = 0; i < reads; i++) {
    if (!pace.allows()) continue;
    count++;
    pace.took(took(i), 100_000);
  }
  return count;
}

const CACHED = 0.03;
const DISK = 5;

Deno.test("data in memory is read at once", () => {
  assert.equal(atOnce(new Pace(), () => CACHED, 1000), 1000);
});

Deno.test("few reads of a slow disk are tried at once", () => {
  const pace = new Pace();
  const first = atOnce(pace, () => DISK, 1000);
  assert.ok(first <= 10, `${first} of the first 1,000`);
  const later = atOnce(pace, () => DISK, 100_000);
  assert.ok(later <= 100, `${later} of 100,000`);
});

Deno.test("an occasional slow read does not delegate others", () => {
  const busy = (read: number) => read % 100 === 99 ? DISK : CACHED;
  assert.equal(atOnce(new Pace(), busy, 10_000), 10_000);
});

Deno.test("if every fourth read is slow, most wait", () => {
  const half = atOnce(new Pace(), (i) => i % 4 === 0 ? DISK : CACHED, 100_000);
  assert.ok(half < 5000, `${half} of 100,000`);
});

Deno.test("data that has come into memory is read at once again", () => {
  const pace = new Pace();
  atOnce(pace, () => DISK, 10_000);
  atOnce(pace, () => CACHED, 2000); // at most one detour of 1,024 is left, and its doubt
  assert.equal(atOnce(pace, () => CACHED, 1000), 1000);
});

Deno.test("larger reads may take longer", () => {
  const pace = new Pace();
  for (let i = 0; i < 100; i++) {
    assert.ok(pace.allows());
    pace.took(0.2, 1_000_000);
  }
});
