/** Programs that read frames on a real mount of a GulpIO directory, mounted by the command line. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { GulpDirectory } from "../../src/formats/gulp/mod.ts";
import { imageCodec } from "../../src/codecs/image/mod.ts";
import { sha256 } from "../support/golden.ts";
import { gulpCase, joined } from "../support/gulp/gulp_golden.ts";
import { FULL, LONG } from "../support/long.ts";
import { fromFileUrl } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import {
  asOrdinaryUser,
  asSelf,
  type User,
} from "../support/programs/users.ts";

const DECODE = fromFileUrl(new URL("python/decode_frames.py", import.meta.url));

const USERS: [string, typeof asSelf, { ignore: boolean }][] = [
  ["root", asSelf, needs("fuse", "root", "pillow")],
  [
    "an ordinary user",
    asOrdinaryUser,
    needs("fuse", "root", "fusermount3", "pillow"),
  ],
];

/** Copies a golden directory to where the user can read it, and mounts it while `body` runs. */
async function mountedCase(
  user: User,
  name: string,
  body: (mountpoint: string) => Promise<void>,
): Promise<void> {
  const source = `${user.home}/${name}`;
  fs.cpSync(gulpCase(name).path, source, { recursive: true });
  await user.own(source);
  const mountpoint = `${user.home}/mnt`;
  await user.do("mkdir", "-p", mountpoint);
  const { code, stderr } = await user.recordfs("mount", source, mountpoint);
  assert.equal(code, 0, stderr);
  try {
    await body(mountpoint);
  } finally {
    const ended = await user.recordfs("unmount", mountpoint);
    assert.equal(ended.code, 0, ended.stderr);
  }
}

for (const [who, as, needed] of USERS) {
  Deno.test({
    name:
      `as ${who}: Pillow decodes every frame to the pixels that were gulped`,
    ...needed,
    fn: () =>
      as(async (user) => {
        const script = `${user.home}/decode_frames.py`;
        fs.copyFileSync(DECODE, script);
        await user.own(script);
        const decode = await imageCodec("sharp"); // sharp decodes to the same pixels as Pillow
        const { content, path } = gulpCase("v2_gray_and_rgb");
        using directory = await GulpDirectory.open(path, { decode });
        await mountedCase(user, "v2_gray_and_rgb", async (mountpoint) => {
          const printed = await user.do(user.python, script, mountpoint);
          const seen = JSON.parse(printed) as Record<string, {
            bytes: string;
            meta: unknown;
            frames: [
              mode: string,
              width: number,
              height: number,
              pixels: string,
            ][];
          }>;
          assert.equal(Object.keys(seen).length, content.videos.length);
          for (const { id, frames_sha256, meta, frames } of content.videos) {
            const video = seen[id]!;
            assert.equal(video.bytes, frames_sha256);
            assert.deepEqual(video.meta, meta);
            const decoded = await directory.get(id);
            for (const { index, width, height, channels } of frames) {
              const mode = channels === 1 ? "L" : "RGB";
              assert.deepEqual(
                video.frames[index],
                [mode, width, height, sha256(decoded.frames[index]!.data)],
              );
            }
          }
        });
      }),
  });

  // One test per user is enough to show that the user has access.
  if (!LONG && as === asOrdinaryUser) continue;
  Deno.test({
    name: `as ${who}: cat returns the frames of a video byte for byte`,
    ...needed,
    fn: () =>
      as(async (user) => {
        const { content } = gulpCase("v1_chunks");
        await mountedCase(user, "v1_chunks", async (mountpoint) => {
          for (const { id, num_frames, frames_sha256 } of content.videos) {
            const out = `${user.home}/joined`;
            await user.do(
              "sh",
              "-c",
              'cat "$1"/frame_*.jpg > "$2" && ls "$1" | wc -l > "$2.count"',
              "sh",
              `${mountpoint}/${id}`,
              out,
            );
            assert.equal(
              sha256(joined([fs.readFileSync(out)])),
              frames_sha256,
            );
            assert.equal(
              Number(fs.readFileSync(`${out}.count`, "utf8")),
              num_frames + 1,
            );
          }
        });
      }),
  });
}

Deno.test({
  name:
    "frames of a long video are in order for programs that sort names, and for ffmpeg",
  ignore: !FULL || needs("fuse", "root", "python3", "ffmpeg").ignore,
  fn: () =>
    asSelf(async (user) => {
      const { path } = gulpCase("v2_many_frames");
      using directory = await GulpDirectory.open(path, { decode: false });
      const { frames } = await directory.getRaw("long");
      await mountedCase(user, "v2_many_frames", async (mountpoint) => {
        const video = `${mountpoint}/long`;
        const names = frames.map((_, i) =>
          `frame_${String(i + 1).padStart(5, "0")}.jpg`
        );
        const listed = [...names, "meta.json"].join("\n");
        for (const sort of ["C", "C.UTF-8"]) {
          const shown = await user.do("env", `LC_ALL=${sort}`, "ls", video);
          assert.equal(shown.trim(), listed);
        }
        const sorted = await user.do(
          user.python,
          "-c",
          "import os, sys; print('\\n'.join(sorted(os.listdir(sys.argv[1]))))",
          video,
        );
        assert.equal(sorted.trim(), listed);
        const all = `${user.home}/all`;
        const script = 'cat "$1"/frame_*.jpg > "$2"';
        await user.do("sh", "-c", script, "sh", video, all);
        assert.equal(sha256(fs.readFileSync(all)), sha256(joined(frames)));
        // The unchanged frames, in the order in which ffmpeg reads them.
        const copied = `${user.home}/copied`;
        const ffmpeg = ["ffmpeg", "-v", "error", "-f", "image2", "-i"];
        const pattern = `${video}/frame_%05d.jpg`;
        const copy = ["-c", "copy", "-f", "mjpeg", copied];
        await user.do("env", ...ffmpeg, pattern, ...copy);
        assert.equal(sha256(fs.readFileSync(copied)), sha256(joined(frames)));
        for (const name of ["frame_0001.jpg", "frame_000001.jpg"]) {
          assert.equal(fs.existsSync(`${video}/${name}`), false);
        }
        const extracted = `${user.home}/extracted`;
        await user.recordfs(
          "extract",
          mountpoint.replace(/mnt$/, "v2_many_frames"),
          extracted,
        );
        assert.deepEqual(
          fs.readdirSync(`${extracted}/long`).sort(),
          [...names, "meta.json"],
        );
      });
    }),
});
