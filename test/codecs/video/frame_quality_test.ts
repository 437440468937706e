/** Frames are at least as close to the video as GulpIO2's: ffmpeg's JPEG, resized, then JPEG again. */
import assert from "node:assert/strict";
import { type Image, imageCodec } from "../../../src/codecs/image/mod.ts";
import { resized } from "../../../src/codecs/image/pixels/render.ts";
import { JpegSplitter } from "../../../src/codecs/video/video_frames.ts";
import { videoFrames } from "../../../src/codecs/video/mod.ts";
import { ffmpeg, makeClip } from "../../support/gulp/clips.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const WIDTH = 320;
const HEIGHT = 240;

const SOURCES: readonly (readonly [string, string])[] = [
  ["testsrc2", "null"],
  ["mandelbrot", "null"],
  ["smptebars", "noise=alls=20:allf=t"],
];

/** Returns the mean squared difference of two images. */
function error(a: Uint8Array, b: Uint8Array): number {
  assert.equal(a.length, b.length);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2;
  return sum / a.length;
}

for (const [source, filter] of SOURCES) {
  Deno.test({
    name: `${source}: frames are no further from the video than GulpIO2's`,
    ...needs("ffmpeg"),
    fn: () =>
      withTempDir(async (dir) => {
        const codec = await imageCodec();
        const clip = await makeClip(
          `${dir}/clip.mkv`,
          { source, size: `${WIDTH}x${HEIGHT}`, frames: 3 },
          ...["-vf", filter],
        );
        const raw = await ffmpeg(
          ...["-i", clip, "-sws_flags", "accurate_rnd+full_chroma_int"],
          ...["-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
        );
        const burst = new JpegSplitter().push(
          await ffmpeg(
            ...["-i", clip, "-q:v", "1", "-c:v", "mjpeg"],
            ...["-f", "image2pipe", "-"],
          ),
        );
        const jpegs = [...burst];
        assert.equal(jpegs.length, 3);
        for (const edge of [0, 128]) {
          const size = edge === 0
            ? { width: WIDTH, height: HEIGHT }
            : { width: 170, height: 128 };
          const ours = await Array.fromAsync(
            videoFrames(clip, { shortEdge: edge }),
          );
          const decoded = async (jpeg: Uint8Array): Promise<Image> =>
            await codec.decode(jpeg, { colorspace: "RGB" });
          let [distance, theirs] = [0, 0];
          for (const [i, jpeg] of jpegs.entries()) {
            const length = WIDTH * HEIGHT * 3;
            const exact = resized({
              data: raw.slice(i * length, (i + 1) * length),
              width: WIDTH,
              height: HEIGHT,
              channels: 3,
            }, size);
            const again = await codec.encode(
              resized(await decoded(jpeg), size),
              90,
            );
            theirs += error((await decoded(again)).data, exact.data);
            distance += error((await decoded(ours[i]!)).data, exact.data);
          }
          assert.ok(distance <= theirs, `${edge}: ${distance} > ${theirs}`);
        }
      }),
  });
}
