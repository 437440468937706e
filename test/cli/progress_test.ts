import assert from "node:assert/strict";
import { formatDuration, Pace } from "../../src/cli/pace.ts";

Deno.test("a pace is what was done in the time it took", () => {
  let now = 1000;
  const pace = new Pace(() => now);
  assert.equal(pace.perSecond, 0);
  now += 100;
  pace.note(50);
  assert.equal(pace.perSecond, 500);
  now += 900;
  pace.note(200);
  assert.equal(pace.perSecond, 200);
});

Deno.test("a pace follows work that slows down", () => {
  let now = 0;
  let done = 0;
  const pace = new Pace(() => now);
  const goOn = (seconds: number, perSecond: number) => {
    for (let i = 0; i < seconds * 20; i++) {
      now += 50;
      pace.note(done += perSecond / 20);
    }
  };
  goOn(60, 1000);
  assert.ok(Math.abs(pace.perSecond - 1000) < 1, `${pace.perSecond}`);
  goOn(30, 100);
  assert.ok(Math.abs(pace.perSecond - 100) < 1, `${pace.perSecond}`);
});

Deno.test("durations are short", () => {
  const shown = [0, 59.4, 60, 80, 3599, 3600, 7500, 86_400, 273_600]
    .map(formatDuration);
  assert.deepEqual(
    shown,
    [
      "0s",
      "59s",
      "1m00s",
      "1m20s",
      "59m59s",
      "1h00m",
      "2h05m",
      "1d00h",
      "3d04h",
    ],
  );
});
