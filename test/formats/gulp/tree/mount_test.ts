/** A mounted GulpIO container, read by ordinary programs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mod.ts";
import { open } from "../../../../src/open/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import { gulpCase, joined } from "../../../support/gulp/gulp_golden.ts";
import { writeChunk } from "../../../support/gulp/make_gulp.ts";
import { LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

mountTest(
  "tar, find and cmp read the videos of a mounted directory",
  () =>
    withTempDir(async (dir) => {
      // Of many frames, `cat` and `ls` read in test/mount/gulp_test.ts.
      const many = LONG ? ["v2_many_frames"] : [];
      for (const name of ["v2_odd_ids", ...many, "v1_pickled_meta"]) {
        const golden = gulpCase(name);
        await withMountpoint(async (mountpoint) => {
          await using _mounted = await mount(golden.path, mountpoint);
          const copy = `${dir}/${name}`;
          fs.mkdirSync(copy);
          const tar = await output(
            "sh",
            "-c",
            'tar cf - -C "$1" . | tar xf - -C "$2"',
            "sh",
            mountpoint,
            copy,
          );
          assert.deepEqual([tar.stderr, tar.code], ["", 0]);
          const compared = await output("diff", "-r", mountpoint, copy);
          assert.deepEqual([compared.stdout, compared.code], ["", 0]);
          const found = await output(
            "find",
            mountpoint,
            "-name",
            "frame_*.jpg",
            "-printf",
            "x",
          );
          const frames = golden.content.videos.map((video) => video.num_frames);
          assert.equal(
            found.stdout.length,
            frames.reduce((sum, n) => sum + n, 0),
          );

          using vfs = await open(golden.path);
          const names = await vfs.list();
          for (const [i, video] of golden.content.videos.entries()) {
            const width = Math.max(4, String(video.num_frames).length);
            const files = Array.from(
              { length: video.num_frames },
              (_, k) => `frame_${String(k + 1).padStart(width, "0")}.jpg`,
            );
            const read = files.map((file) =>
              fs.readFileSync(`${copy}/${names[i]}/${file}`)
            );
            assert.equal(sha256(joined(read)), video.frames_sha256);
          }
        });
      }
    }),
);

Deno.test({
  name: "ffmpeg makes a video of a mounted one again",
  ...needs("fuse", "root", "ffmpeg"),
  fn: () =>
    withTempDir(async (dir) => {
      const count = 12;
      const burst = await output(
        ...["ffmpeg", "-v", "error", "-f", "lavfi", "-i"] as const,
        ...["testsrc2=size=64x48:rate=12", "-frames:v", `${count}`],
        `${dir}/%04d.jpg`,
      );
      assert.deepEqual([burst.stderr, burst.code], ["", 0]);
      const frames = Array.from(
        { length: count },
        (_, i) =>
          new Uint8Array(
            fs.readFileSync(`${dir}/${String(i + 1).padStart(4, "0")}.jpg`),
          ),
      );
      writeChunk(`${dir}/gulp`, 0, [{ id: "clip", frames }]);
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(`${dir}/gulp`, mountpoint);
        const from = `${mountpoint}/clip/frame_%04d.jpg`;
        const made = await output(
          ...["ffmpeg", "-v", "error", "-i", from, "-c:v", "copy"] as const,
          `${dir}/clip.avi`,
        );
        assert.deepEqual([made.stderr, made.code], ["", 0]);
      });
      const counted = await output(
        ...["ffprobe", "-v", "error", "-count_frames"] as const,
        ...["-show_entries", "stream=nb_read_frames,width,height"],
        ...["-of", "csv=p=0", `${dir}/clip.avi`],
      );
      assert.equal(counted.stdout.trim(), `64,48,${count}`);
    }),
});
