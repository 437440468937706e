import assert from "node:assert/strict";
import * as fs from "node:fs";
import { formatDuration } from "../../../src/cli/terminal/amounts.ts";
import { packFolder } from "../../../src/formats/ffrecord/mod.ts";
import { Rate } from "../../../src/cli/terminal/progress.ts";
import { goldenCase } from "../../support/golden.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI, run } from "../run_cli.ts";

Deno.test("a rate is the work done per time", () => {
  let now = 1000;
  const rate = new Rate(() => now);
  assert.equal(rate.perSecond, 0);
  now += 100;
  rate.note(50);
  assert.equal(rate.perSecond, 500);
  now += 900;
  rate.note(200);
  assert.equal(rate.perSecond, 200);
});

Deno.test("a rate follows work that slows down", () => {
  let now = 0;
  let done = 0;
  const rate = new Rate(() => now);
  const goOn = (seconds: number, perSecond: number) => {
    for (let i = 0; i < seconds * 20; i++) {
      now += 50;
      rate.note(done += perSecond / 20);
    }
  };
  goOn(60, 1000);
  assert.ok(Math.abs(rate.perSecond - 1000) < 1, `${rate.perSecond}`);
  goOn(30, 100);
  assert.ok(Math.abs(rate.perSecond - 100) < 1, `${rate.perSecond}`);
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
  name: "extract knows the total, also of some paths (needs script)",
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
          /extracting .*100% {2}[\d.]+ [kM]?B\/s {2}0s left/,
        );
      }
    });
  },
});

Deno.test({
  name: "extract counts many files, and shows the bytes (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/many`);
      for (let i = 0; i < 1500; i++) {
        fs.writeFileSync(`${dir}/many/${i}`, new Uint8Array(10_000));
      }
      await packFolder(`${dir}/many`, `${dir}/many.ffr`);
      const command = `'${Deno.execPath()}' run -A '${CLI}' extract ` +
        `'${dir}/many.ffr' '${dir}/out'`;
      const ran = await run(["script", "-qec", command, "/dev/null"]);
      assert.equal(ran.code, 0);
      assert.match(
        ran.stdout,
        /extracting .*100% {2}[\d.]+ [kM]?B\/s {2}0s left/,
      );
    });
  },
});
