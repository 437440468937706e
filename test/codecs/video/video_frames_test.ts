import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { imageCodec, readImageHeader } from "../../../src/codecs/image/mod.ts";
import { videoFrames } from "../../../src/codecs/video/mod.ts";
import {
  burstCount,
  ffmpeg,
  ffmpegWithPid,
  isRunning,
  makeClip,
} from "../../support/gulp/clips.ts";
import { samplingOf } from "../../support/images.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

function testClips(
  name: string,
  body: (dir: string) => Promise<void>,
): void {
  Deno.test({ name, ...needs("ffmpeg"), fn: () => withTempDir(body) });
}

let long: Promise<string> | undefined;

/** Makes a clip once, with more frames than pipes can buffer; making it takes longer than using it. */
function longClip(): Promise<string> {
  return long ??= (async () => {
    const dir = await Deno.makeTempDir({ prefix: "recordfs-clip-" });
    addEventListener("unload", () => Deno.removeSync(dir, { recursive: true }));
    return await makeClip(`${dir}/clip.mp4`, { frames: 1500 });
  })();
}

async function framesOf(
  path: string | URL,
  options?: Parameters<typeof videoFrames>[1],
): Promise<Uint8Array[]> {
  return await Array.fromAsync(videoFrames(path, options));
}

/** Returns the distinct frame sizes. */
async function sizesOf(
  path: string,
  options?: Parameters<typeof videoFrames>[1],
): Promise<string[]> {
  const sizes = (await framesOf(path, options)).map((jpeg) => {
    const { width, height } = readImageHeader(jpeg);
    return `${width}x${height}`;
  });
  return [...new Set(sizes)];
}

testClips(
  "the number of frames equals that of GulpIO's ffmpeg call, at any rate",
  async (dir) => {
    const sound = ["-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac"];
    const later = "if(lt(N,10),N/25,10/25+(N-10)/5)/TB";
    const clips = [
      await makeClip(`${dir}/plain.mp4`),
      await makeClip(`${dir}/one.mp4`, { frames: 1 }),
      await makeClip(`${dir}/odd.mkv`, { size: "51x37", rate: 30, frames: 31 }),
      await makeClip(
        `${dir}/variable.mkv`,
        { frames: 20 },
        ...["-vf", `setpts='${later}'`, "-fps_mode", "vfr"],
      ),
    ];
    const silent = clips[0]!;
    const withSound = `${dir}/sound.mp4`;
    await ffmpeg("-i", silent, ...sound, "-c:v", "copy", withSound);
    for (const clip of [...clips, withSound]) {
      // A rate above the clip's own. One clip is enough in a quick run.
      const more = LONG || clip === silent ? [30] : [];
      for (const frameRate of [undefined, 7.5, ...more]) {
        const frames = await framesOf(clip, { frameRate });
        const expected = await burstCount(clip, dir, frameRate);
        assert.equal(frames.length, expected, `${clip} at ${frameRate}`);
        assert.ok(expected > 0);
      }
    }
  },
);

testClips(
  "frames keep the video's size and subsampling, or get the short edge without",
  async (dir) => {
    for (const size of ["51x37", "37x51", "32x32"]) {
      const clip = await makeClip(`${dir}/${size}.mkv`, { size, frames: 3 });
      assert.deepEqual(await sizesOf(clip), [size]);
      assert.deepEqual(await sizesOf(clip, { shortEdge: 0 }), [size]);
      for (const shortEdge of [1, 32, 77]) {
        const [width, height] = size.split("x").map(Number) as [number, number];
        const long = Math.max(width, height) / Math.min(width, height);
        const expected = height < width
          ? `${Math.trunc(shortEdge * long)}x${shortEdge}`
          : `${shortEdge}x${Math.trunc(shortEdge * long)}`;
        assert.deepEqual(await sizesOf(clip, { shortEdge }), [expected]);
      }
      for (const jpeg of await framesOf(clip)) {
        assert.deepEqual(samplingOf(jpeg), [0x22, 0x11, 0x11]);
      }
      for (const jpeg of await framesOf(clip, { shortEdge: 16 })) {
        assert.equal(new Set(samplingOf(jpeg)).size, 1); // all equal
      }
    }
  },
);

testClips("the rotation of a video is applied", async (dir) => {
  const clip = await makeClip(`${dir}/clip.mp4`, { frames: 2 });
  const turned = `${dir}/turned.mp4`;
  const copy = ["-i", clip, "-c", "copy"];
  try { // the option exists since ffmpeg 6
    await ffmpeg("-display_rotation", "90", ...copy, turned);
  } catch {
    await ffmpeg(...copy, "-metadata:s:v:0", "rotate=90", turned);
  }
  assert.deepEqual(await sizesOf(turned), ["48x64"]);
  assert.deepEqual(await sizesOf(turned, { shortEdge: 24 }), ["24x32"]);
});

testClips("black is 0 and white is 255, as in JPEG", async (dir) => {
  const codec = await imageCodec("imagescript");
  for (const [colour, value] of [["black", 0], ["white", 255]] as const) {
    const clip = await makeClip(`${dir}/${colour}.mkv`, {
      source: `color=c=${colour}`,
      frames: 1,
    });
    for (const shortEdge of [0, 24]) {
      const [jpeg] = await framesOf(clip, { shortEdge });
      const { data } = await codec.decode(jpeg!);
      assert.ok(data.every((byte) => Math.abs(byte - value) <= 1), colour);
    }
  }
});

testClips("more than 10,000 frames are in order", async (dir) => {
  const clip = await makeClip(
    `${dir}/long.mkv`,
    { source: "color=c=black", size: "16x16", frames: 10_050 },
    ...["-vf", "geq=lum='mod(N\\,220)+16':cb=128:cr=128"],
  );
  const codec = await imageCodec("imagescript");
  let [count, wrong] = [0, 0];
  for await (const jpeg of videoFrames(clip)) {
    if (count % 97 === 0) {
      const { data } = await codec.decode(jpeg, { colorspace: "GRAY" });
      const expected = (count % 220) * 255 / 219;
      if (Math.abs(data[100]! - expected) > 3) wrong++;
    }
    count++;
  }
  assert.deepEqual([count, wrong], [10_050, 0]);
});

testClips(
  "the bytes are the same every time, without a comment about the program",
  async (dir) => {
    const clip = await makeClip(`${dir}/clip.mp4`, { frames: 5 });
    const frames = await framesOf(clip, { shortEdge: 20 });
    assert.deepEqual(
      await framesOf(pathToFileURL(clip), { shortEdge: 20 }),
      frames,
    );
    for (const jpeg of frames) {
      assert.equal(
        new TextDecoder("latin1").decode(jpeg).includes("Lav"),
        false,
      );
    }
    const one = await framesOf(clip, { shortEdge: 20, threads: 1 });
    assert.deepEqual(one, frames);
  },
);

testClips(
  "a better qscale makes larger frames; invalid options are rejected",
  async (dir) => {
    const clip = await makeClip(`${dir}/clip.mp4`, { frames: 1 });
    const sizes = [];
    for (const qscale of [2, 3, 8, 31]) {
      sizes.push((await framesOf(clip, { qscale }))[0]!.length);
    }
    assert.deepEqual(sizes, sizes.toSorted((a, b) => b - a));
    assert.equal(new Set(sizes).size, 4);
    assert.deepEqual(await framesOf(clip), await framesOf(clip, { qscale: 3 }));
    for (
      const options of [
        ...[{ frameRate: 0 }, { frameRate: -1 }, { frameRate: NaN }],
        ...[{ shortEdge: 1.5 }, { shortEdge: 1e6 }, { threads: 0 }],
        ...[{ qscale: 1 }, { qscale: 32 }, { qscale: 2.5 }],
      ]
    ) {
      await assert.rejects(() => framesOf(clip, options), RangeError);
    }
  },
);

testClips("a name is never parsed as an option", async (dir) => {
  const clip = await makeClip(`${dir}/clip.mp4`, { frames: 2 });
  for (
    const name of [
      ...["-i.mp4", "%d.mp4", "%03d.mp4", "concat:a.mp4|b.mp4", "a:b.mp4"],
      ...["new\nline.mp4", "it's [0]; \\.mp4", "http:x.mp4", " ", "ü.mp4"],
      ...["pipe:0", "subfile,,start,1,end,2,,:x.mp4"],
    ]
  ) {
    await Deno.copyFile(clip, `${dir}/${name}`);
    assert.equal((await framesOf(`${dir}/${name}`)).length, 2, name);
  }
});

testClips("leaving the iteration ends ffmpeg", async (dir) => {
  const clip = await longClip();
  const { program, pid } = await ffmpegWithPid(dir);
  for await (const jpeg of videoFrames(clip, { program })) {
    assert.ok(jpeg.length > 0 && isRunning(pid()));
    break;
  }
  assert.equal(isRunning(pid()), false);
});

testClips("ffmpeg waits while its frames are not read", async (dir) => {
  const clip = await longClip();
  const { program, pid } = await ffmpegWithPid(dir);
  const all = (await framesOf(clip)).reduce(
    (sum, { length }) => sum + length,
    0,
  );
  const frames = videoFrames(clip, { program });
  await frames.next();
  const written = () =>
    Number(/wchar: (\d+)/.exec(Deno.readTextFileSync(`/proc/${pid()}/io`))![1]);
  for (let before = -1; before !== written();) {
    before = written();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.ok(written() < all / 2, `${written()} of ${all}`);
  await frames.return();
});

testClips(
  "a signal ends ffmpeg, and the iteration with its reason",
  async (dir) => {
    const clip = await longClip();
    const { program, pid } = await ffmpegWithPid(dir);
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error("enough");
    let taken = 0;
    await assert.rejects(async () => {
      for await (const _ of videoFrames(clip, { program, signal })) {
        if (++taken === 3) controller.abort(reason);
      }
    }, reason);
    assert.equal(taken, 3);
    assert.equal(isRunning(pid()), false);
    await assert.rejects(
      () => framesOf(clip, { program: `${dir}/not-there`, signal }),
      reason, // ffmpeg is not even started
    );
  },
);
