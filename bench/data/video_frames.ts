/**
 * Extracts frames of videos and measures fidelity, size and speed, compared with GulpIO2's method.
 *
 *   deno run -A bench/data/video_frames.ts [--frames N] [--rounds N] [--edge N] [--dir FOLDER] [--json]
 *
 * GulpIO2 writes a folder of JPEGs by ffmpeg (`-q:v 1`), then decodes each, resizes it as Pillow does, and encodes it
 * again with quality 90. Fidelity is the PSNR in RGB compared with the decoded video, resized in the same way without
 * a JPEG in between.
 *
 * @module
 */
import { type Image, imageCodec } from "../../src/codecs/image/mod.ts";
import { resized } from "../../src/codecs/image/pixels/render.ts";
import { shortEdgeSize } from "../../src/codecs/image/short_edge.ts";
import { videoFrames } from "../../src/codecs/video/mod.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const SIZE = { width: 640, height: 480 };

/** Test patterns with flat colour, with detail, and with noise. */
const CLIPS: readonly (readonly [string, string])[] = [
  ["testsrc2", "null"],
  ["mandelbrot", "null"],
  ["smptebars + noise", "noise=alls=20:allf=t"],
];

const FFMPEG = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"];

/** `video_frames`: fidelity, size and speed of a video's frames. */
export const videoFramesBenchmark: Benchmark = {
  name: "video_frames",
  run: measure,
};

/** Method that turns a video into JPEGs. */
type Way = (clip: string, edge: number) => Promise<Uint8Array[]>;

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    frames: 50,
    rounds: 3,
    edge: 256,
  });
  await using workspace = await Workspace.create(dir, numbers.frames * 1e6);
  const ways: readonly (readonly [string, Way])[] = [
    [
      "videoFrames",
      (clip, shortEdge) => Array.fromAsync(videoFrames(clip, { shortEdge })),
    ],
    ["GulpIO2's way", (clip, edge) => twice(clip, edge, workspace.path)],
  ];
  const rows: Row[] = [];
  for (const [i, [name, filter]] of CLIPS.entries()) {
    const clip = workspace.file(`${i}.mp4`);
    await run([
      ...[...FFMPEG, "-f", "lavfi", "-i"],
      `${name.split(" ")[0]}=size=${SIZE.width}x${SIZE.height}:rate=25`,
      ...["-vf", filter, "-frames:v", `${numbers.frames}`],
      ...["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", clip],
    ]);
    for (const edge of [0, numbers.edge]) {
      const what = `video_frames, ${name}, ` +
        (edge === 0 ? "full size" : `short edge ${edge}`);
      progress(what);
      rows.push(...await compare(what, ways, clip, edge, numbers.rounds));
    }
  }
  return rows;
}

async function compare(
  what: string,
  ways: readonly (readonly [string, Way])[],
  clip: string,
  edge: number,
  rounds: number,
): Promise<Row[]> {
  const frames: Uint8Array[][] = ways.map(() => []);
  const rates = await alternate([...ways.keys()], rounds, async (i) => {
    const start = performance.now();
    frames[i] = await ways[i]![1](clip, edge);
    return frames[i].length / (performance.now() - start) * 1000;
  });
  const exact = await decodedVideo(clip, edge);
  const closeness = await Promise.all(
    frames.map((jpegs) => psnr(jpegs, exact)),
  );
  const bytes = frames.map((jpegs) =>
    jpegs.reduce((sum, { length }) => sum + length, 0) / jpegs.length
  );
  const met = closeness[0]! >= closeness[1]!;
  const target = { promise: "≥ GulpIO2", met };
  return ways.flatMap(([subject], i) => [
    {
      ...{ measured: `${what}: PSNR`, subject, value: closeness[i]! },
      unit: "dB",
      ...(i === 0 ? { target } : {}),
    },
    {
      ...{ measured: `${what}: size`, subject, value: bytes[i]! },
      unit: "bytes/frame",
      ...(i === 0 ? {} : { ratio: bytes[1]! / bytes[0]! }),
    },
    {
      ...{ measured: `${what}: rate`, subject, value: median(rates[i]!) },
      ...{ unit: "frames/s", rounds: rates[i]! },
      ...(i === 0 ? {} : { ratio: median(rates[0]!) / median(rates[1]!) }),
    },
  ]);
}

/** Writes JPEGs to disk by ffmpeg, then decodes, resizes and encodes them again. */
async function twice(
  clip: string,
  edge: number,
  parent: string,
): Promise<Uint8Array[]> {
  const codec = await imageCodec("sharp");
  const dir = await Deno.makeTempDir({ dir: parent });
  await run([...FFMPEG, "-i", clip, "-q:v", "1", `${dir}/%010d.jpg`]);
  const names = [];
  for await (const { name } of Deno.readDir(dir)) names.push(name);
  const jpegs = [];
  for (const name of names.toSorted()) {
    const image = await codec.decode(await Deno.readFile(`${dir}/${name}`), {
      colorspace: "RGB",
    });
    jpegs.push(await codec.encode(shortEdged(image, edge), 90));
  }
  await Deno.remove(dir, { recursive: true });
  return jpegs;
}

/** Resizes exactly as Pillow does. */
function shortEdged(image: Image, edge: number): Image {
  return resized(image, shortEdgeSize(image, edge));
}

/** Decodes the pixels of a clip's frames, resized, without a JPEG in between. */
async function decodedVideo(clip: string, edge: number): Promise<Image[]> {
  const raw = await run([
    ...[...FFMPEG, "-i", clip, "-sws_flags"],
    ...["bicubic+accurate_rnd+full_chroma_int", "-pix_fmt", "rgb24"],
    ...["-f", "rawvideo", "-"],
  ]);
  const length = SIZE.width * SIZE.height * 3;
  return Array.from({ length: raw.length / length }, (_, i) => {
    const data = raw.slice(i * length, (i + 1) * length);
    return shortEdged({ data, ...SIZE, channels: 3 }, edge);
  });
}

/** Peak signal-to-noise ratio of all frames together, in dB. */
async function psnr(
  jpegs: readonly Uint8Array[],
  exact: readonly Image[],
): Promise<number> {
  const codec = await imageCodec("sharp");
  let [sum, count] = [0, 0];
  for (const [i, image] of exact.entries()) {
    const { data } = await codec.decode(jpegs[i]!, { colorspace: "RGB" });
    for (let k = 0; k < data.length; k++) {
      sum += (data[k]! - image.data[k]!) ** 2;
    }
    count += data.length;
  }
  return 10 * Math.log10(255 ** 2 / (sum / count));
}

if (import.meta.main) await runAlone(videoFramesBenchmark);
