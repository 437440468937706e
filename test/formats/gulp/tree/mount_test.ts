/** A mounted GulpIO container, read by ordinary programs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { output, withMountpoint } from "../../../fuse/support/mounting.ts";

Deno.test({
  name: "ffmpeg makes a video from a mounted one",
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
