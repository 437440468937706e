import assert from "node:assert/strict";
import { Pace } from "../../../src/io/storage/pace.ts";

/** Simulates reads that take `took(read)` ms, and counts those that were tried without waiting. */
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

Deno.test("cached data is read synchronously", () => {
  assert.equal(atOnce(new Pace(), () => CACHED, 1000), 1000);
});

Deno.test("few reads of a slow disk are tried synchronously", () => {
  const pace = new Pace();
  const first = atOnce(pace, () => DISK, 1000);
  assert.ok(first <= 10, `${first} of the first 1,000`);
  const later = atOnce(pace, () => DISK, 100_000);
  assert.ok(later <= 100, `${later} of 100,000`);
});

Deno.test("an occasional slow read does not make others asynchronous", () => {
  const busy = (read: number) => read % 100 === 99 ? DISK : CACHED;
  assert.equal(atOnce(new Pace(), busy, 10_000), 10_000);
});

Deno.test("if every fourth read is slow, most are asynchronous", () => {
  const half = atOnce(new Pace(), (i) => i % 4 === 0 ? DISK : CACHED, 100_000);
  assert.ok(half < 5000, `${half} of 100,000`);
});

Deno.test("once data is cached, it is read synchronously again", () => {
  const pace = new Pace();
  atOnce(pace, () => DISK, 10_000);
  atOnce(pace, () => CACHED, 2000); // at most one backoff of 1,024 reads remains, and the probes after it
  assert.equal(atOnce(pace, () => CACHED, 1000), 1000);
});

Deno.test("larger reads may take longer", () => {
  const pace = new Pace();
  for (let i = 0; i < 100; i++) {
    assert.ok(pace.allows());
    pace.took(0.2, 1_000_000);
  }
});
