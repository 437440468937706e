import assert from "node:assert/strict";
import { formatDuration, Pace } from "../../src/cli/pace.ts";
import { goldenCase } from "../support/golden.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs.ts";
import { CLI, run } from "./run_cli.ts";

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

Deno.test({
  name: "extract knows how much there is, of some paths too (needs script)",
  ...needs("script"),
  async fn() {
    const { path } = goldenCase("ffrecord/packed_tree");
    await withTempDir(async (dir) => {
      for (const [i, paths] of ["", "words ..."].entries()) {
        const command = `'${Deno.execPath()}' run -A '${CLI}' extract ` +
          `'${path}' '${dir}/${i}' ${paths}`;
        const ran = await run(["script", "-qec", command, "/dev/null"]);
        assert.equal(ran.code, 0);
        assert.match(
          ran.stdout,
          /extracting .*100% {2}\d+ files\/s {2}0s left/,
        );
      }
    });
  },
});
