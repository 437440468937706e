/** `recordfs gulp repair`. Tests of the library cover what it saves. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gulpCase } from "../../../support/gulp/gulp_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { assertFailed, recordfs, succeed } from "../../run_cli.ts";

const cut = gulpCase("v2_bad_truncated_data");

Deno.test("gulp repair saves undamaged videos and names those it skips", async () => {
  await withTempDir(async (dir) => {
    assert.equal((await recordfs(["check", cut.path])).code, 1);
    const { stdout } = await succeed([
      "gulp",
      "repair",
      cut.path,
      `${dir}/out`,
    ]);
    const lines = stdout.trimEnd().split("\n");
    const lost = cut.content.videos.filter(({ error }) => error !== undefined);
    assert.equal(lines.length, lost.length + 1);
    for (const [i, { id }] of lost.entries()) {
      assert.match(lines[i]!, /^skipped: .*it is truncated/);
      assert.ok(lines[i]!.includes(JSON.stringify(id)));
    }
    const videos = cut.content.videos.length - lost.length;
    assert.ok(lines.at(-1)!.includes(`${videos} videos`));
    await succeed(["check", `${dir}/out`]);

    const json = await succeed([
      ...["gulp", "repair", "--partial", "--json", cut.path],
      `${dir}/partial`,
    ]);
    const report = JSON.parse(json.stdout);
    assert.equal(report.videos, cut.content.videos.length);
    assert.deepEqual(
      report.leftOut.map(({ id, frames, code }: Record<string, unknown>) => ({
        id,
        frames,
        code,
      })),
      lost.map(({ id, num_frames, frames_still_good }) => ({
        id,
        frames: num_frames - frames_still_good!.length,
        code: "truncated-data",
      })),
    );
  });
});

Deno.test("gulp repair fails in one line and writes nothing", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/full`);
    fs.writeFileSync(`${dir}/full/x`, "");
    const empty = gulpCase("v2_no_chunks").path;
    for (
      const [args, code, words] of [
        [[cut.path, `${dir}/full`], 1, /not empty/],
        [[cut.path, `${cut.path}/new`], 1, /lies in/],
        [[empty, `${dir}/out`], 1, /holds no chunks/],
        [[`${dir}/nowhere`, `${dir}/out`], 1, /nowhere: there is no such/],
        [[`${dir}/full/x`, `${dir}/out`], 1, /not a directory/],
        [[cut.path, ""], 2, /is empty/],
        [[cut.path], 2, /missing required argument 'target'/],
      ] as const
    ) {
      assertFailed(await recordfs(["gulp", "repair", ...args]), code, words);
    }
    assert.deepEqual(fs.readdirSync(dir), ["full"]);
  });
});
