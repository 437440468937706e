/** Converts videos in memory to frames, and frames to videos, through ffmpeg. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import {
  decodeVideo,
  encodeVideo,
  VideoError,
} from "../../../src/codecs/video/mod.ts";
import { type NdArray } from "../../../src/codecs/numpy/nd_array.ts";
import {
  videoDecoder,
  videoEncoder,
} from "../../../src/formats/bags/types/mod.ts";
import {
  ffmpeg,
  ffmpegWithPid,
  isRunning,
  makeClip,
} from "../../support/gulp/clips.ts";
import { assertClose, testImage } from "../../support/images.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

function test(name: string, body: (dir: string) => Promise<void>): void {
  Deno.test({ name, ...needs("ffmpeg"), fn: () => withTempDir(body) });
}

/** Makes frames of a picture that moves to the right. */
function movingFrames(count = 7, height = 48, width = 64): NdArray {
  const data = new Uint8Array(count * height * width * 3);
  const { data: picture } = testImage(width, height);
  for (let i = 0; i < count; i++) {
    data.set(picture, i * picture.length);
    data.copyWithin(
      i * picture.length + 12 * i,
      i * picture.length,
      (i + 1) * picture.length - 12 * i,
    );
  }
  return { dtype: "|u1", shape: [count, height, width, 3], data };
}

async function assertFails(
  run: () => Promise<unknown>,
  code: VideoError["code"],
  words: RegExp,
): Promise<void> {
  await assert.rejects(run, (error) => {
    assert.ok(error instanceof VideoError, `${error}`);
    assert.equal(error.code, code);
    assert.match(error.message, words);
    return true;
  });
}

for (const format of ["mp4", "webm"] as const) {
  test(`frames become ${format} and frames again`, async () => {
    const frames = movingFrames();
    const bytes = await videoEncoder({ format, fps: 10 })(frames);
    const read = await videoDecoder()(bytes);
    assert.deepEqual([read.dtype, read.shape], [frames.dtype, frames.shape]);
    assertClose(
      read.data as Uint8Array,
      frames.data as Uint8Array,
      { mean: 8, max: 200 },
      format,
    );
  });
}

test("the frames are those of ffmpeg itself, each once", async (dir) => {
  const clip = await makeClip(`${dir}/clip.mkv`, { frames: 9 });
  const raw = await ffmpeg(
    ...["-i", clip, "-fps_mode", "passthrough"],
    ...["-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"],
  );
  const { shape, data } = await decodeVideo(await Deno.readFile(clip));
  assert.deepEqual(shape, [9, 48, 64, 3]);
  assert.deepEqual(data, new Uint8Array(raw));
});

test("frames per second and codec are as requested", async (dir) => {
  const path = `${dir}/out.mp4`;
  const options = { fps: 12.5, codec: "mpeg4" };
  await Deno.writeFile(path, await encodeVideo(movingFrames(), options));
  const { stdout } = await new Deno.Command("ffprobe", {
    args: [
      ...["-v", "error", "-show_entries", "stream=codec_name,r_frame_rate"],
      ...["-of", "csv=p=0", path],
    ],
  }).output();
  assert.equal(new TextDecoder().decode(stdout).trim(), "mpeg4,25/2");
});

test("an invalid video fails with ffmpeg's own message", async (dir) => {
  const clip = await Deno.readFile(await makeClip(`${dir}/clip.mp4`));
  const cut = clip.subarray(0, clip.length * 0.6);
  const noise = new Uint8Array(5000).map((_, i) => (i * i * 31) >> 3);
  for (const bytes of [cut, noise, new Uint8Array(0)]) {
    await assertFails(
      () => decodeVideo(bytes, { path: "the clip" }),
      "video-failed",
      /^Cannot decode the clip: ffmpeg: .*(moov|Invalid data)/s,
    );
  }
  const damaged = clip.slice();
  for (let at = 2000; at < clip.length / 2; at += 700) {
    damaged.fill(90, at, at + 40);
  }
  await assertFails(() => decodeVideo(damaged), "video-failed", /ffmpeg: /);
});

test("a list that refers to other files is not followed", async (dir) => {
  const clip = await makeClip(`${dir}/clip.ts`);
  const lists = [
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:${clip}\n#EXT-X-ENDLIST\n`,
    `ffconcat version 1.0\nfile ${clip}\n`,
  ];
  for (const list of lists) {
    await assertFails(
      () => decodeVideo(new TextEncoder().encode(list)),
      "video-failed",
      /Invalid data|whitelist/i,
    );
  }
});

test("audio alone has no frames", async (dir) => {
  const path = `${dir}/sound.mp4`;
  await ffmpeg("-f", "lavfi", "-i", "sine=duration=1", path);
  const bytes = await Deno.readFile(path);
  await assertFails(
    () => decodeVideo(bytes),
    "video-failed",
    /matches no streams/,
  );
});

test("a video with more pixels than allowed is rejected, and ffmpeg ends", async (dir) => {
  const clip = await Deno.readFile(await makeClip(`${dir}/clip.mp4`));
  const { program, pid } = await ffmpegWithPid(dir);
  await assertFails(
    () => decodeVideo(clip, { maxBytes: 20_000, program }),
    "too-large",
    /take more than 20000 bytes\. Raise maxBytes/,
  );
  assert.ok(!isRunning(pid()));
});

test("a signal ends ffmpeg", async (dir) => {
  const { program, pid } = await ffmpegWithPid(dir);
  const { signal, abort } = abortable();
  const encoding = encodeVideo(movingFrames(300, 240, 320), {
    format: "webm",
    program,
    signal,
  });
  const ended = assert.rejects(encoding, { message: "enough" });
  while (!await isStarted(`${dir}/pid`)) await delay(5);
  abort(new Error("enough"));
  await ended;
  assert.ok(!isRunning(pid()));
  await assert.rejects(() => encodeVideo(movingFrames(), { signal }), {
    message: "enough",
  });
});

function abortable(): { signal: AbortSignal; abort(reason: Error): void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
  };
}

async function isStarted(pidFile: string): Promise<boolean> {
  try {
    return (await Deno.readTextFile(pidFile)).endsWith("\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Fails to decode a video, fails to encode one of odd size, then succeeds at both. */
const LEAVES_NOTHING = `
import { decodeVideo, encodeVideo } from "./src/codecs/video/mod.ts";
const frames = (size) => ({ dtype: "|u1", shape: [1, size, size, 3], data: new Uint8Array(size * size * 3) });
const failures = await Promise.allSettled([decodeVideo(new Uint8Array(9)), encodeVideo(frames(3))]);
await decodeVideo(await encodeVideo(frames(4)));
console.log(failures.map(({ status }) => status).join(" "));
`;

test("no temporary file remains", async (dir) => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", LEAVES_NOTHING],
    cwd: REPOSITORY,
    env: { TMPDIR: dir },
  }).output();
  const said = new TextDecoder().decode(stdout).trim();
  assert.equal(said, "rejected rejected");
  assert.deepEqual(await Array.fromAsync(Deno.readDir(dir)), []);
});

test("values that cannot be encoded fail by name", async () => {
  await assertFails(
    () => encodeVideo(movingFrames(2, 47, 63), { path: "the clip" }),
    "video-failed",
    /^Cannot encode the clip: ffmpeg: .*not divisible by 2/s,
  );
  await assertFails(
    () => encodeVideo(movingFrames(), { codec: "nothing" }),
    "video-failed",
    /Unknown encoder 'nothing'/,
  );
  await assertFails(
    () => encodeVideo(movingFrames(), { program: "no-such-ffmpeg" }),
    "ffmpeg-missing",
    /^Cannot encode .*no-such-ffmpeg is not installed/,
  );
});

Deno.test("invalid options and frames are rejected before ffmpeg runs", async () => {
  const frames = movingFrames(1, 2, 2);
  const program = "no-such-ffmpeg";
  for (
    const wrong of [
      { fps: 0 },
      { fps: NaN },
      { codec: "-y" },
      { codec: "a b" },
      { format: "avi" as "mp4" },
    ]
  ) {
    await assert.rejects(
      () => encodeVideo(frames, { ...wrong, program }),
      RangeError,
    );
  }
  for (
    const wrong of [{ dtype: "<f4" }, { shape: [1, 2, 2] }, {
      shape: [1, 2, 2, 1],
    }, { shape: [0, 2, 2, 3] }]
  ) {
    await assert.rejects(
      () => encodeVideo({ ...frames, ...wrong }, { program }),
      TypeError,
    );
  }
});
