import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gulpCase, joined } from "../../../support/gulp/gulp_golden.ts";
import { sha256 } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { recordfs, succeed } from "../../run_cli.ts";

const images = gulpCase("v2_image_list");

Deno.test("info counts videos, frames and labels", async () => {
  const { content, path } = images;
  const facts = {
    videos: content.videos.length,
    frames: content.videos.reduce((sum, video) => sum + video.num_frames, 0),
    labels: Object.keys(content.label2idx!).length,
  };
  const text = (await succeed(["info", path])).stdout;
  for (const [name, count] of Object.entries(facts)) {
    assert.match(text, new RegExp(`^ *${name}: ${count}$`, "m"));
  }
  const { stdout } = await succeed(["info", "--json", path]);
  const info = JSON.parse(stdout);
  assert.deepEqual(info.facts, facts);
  const sizes = fs.readdirSync(path).map((name) =>
    fs.statSync(`${path}/${name}`).size
  );
  assert.equal(info.bytes, sizes.reduce((sum, size) => sum + size, 0));
});

Deno.test("cat and extract write the stored frames", async () => {
  const { path, content } = gulpCase("v1_appended");
  const [video] = content.videos as [typeof content.videos[0]];
  const files = Array.from(
    { length: video.num_frames },
    (_, i) => `${video.id}/frame_000${i + 1}.jpg`,
  );
  const { bytes } = await succeed(["cat", path, ...files]);
  assert.equal(sha256(bytes), video.frames_sha256);
  await withTempDir(async (dir) => {
    await succeed(["extract", path, `${dir}/out`]);
    const read = files.map((file) => fs.readFileSync(`${dir}/out/${file}`));
    assert.equal(sha256(joined(read)), video.frames_sha256);
    const meta = fs.readFileSync(`${dir}/out/${video.id}/meta.json`, "utf8");
    assert.deepEqual(JSON.parse(meta), video.meta);
  });
});

Deno.test("check names the damage and exits with 1; ls warns and shows the rest", async () => {
  const { path, expected } = gulpCase("v1_bad_missing_meta");
  const checked = await recordfs(["check", path]);
  assert.equal(checked.code, 1);
  assert.ok(checked.stdout.includes(expected.words));
  const listed = await recordfs(["ls", path]);
  assert.equal(listed.code, 0);
  assert.ok(listed.stderr.includes(expected.words));
  assert.match(listed.stdout, /^v0_0$/m);
  await succeed(["check", images.path]);
});
