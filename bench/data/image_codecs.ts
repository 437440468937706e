/**
 * Compares image codecs: decoding, and converting an image file to a smaller JPEG, one after the other.
 *
 *   deno run -A bench/data/image_codecs.ts [--images N] [--rounds N] [--edge N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { imageCodec } from "../../src/codecs/image/mod.ts";
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

const WIDTH = 640;
const HEIGHT = 480;

/** JPEG quality that GulpIO2 uses. */
const QUALITY = 90;

/** `image_codecs`: images a second by codec. */
export const imageCodecsBenchmark: Benchmark = {
  name: "image_codecs",
  run: measure,
};

/** Program or codec that processes image files. */
interface Contender {
  readonly name: string;
  /** Processes all files, one after the other. */
  run(files: readonly Uint8Array[], dir: string): Promise<void>;
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    images: 100,
    rounds: 5,
    edge: 256,
  });
  const { images, rounds, edge } = numbers;
  await using workspace = await Workspace.create(dir, images * 200_000);
  progress(`image_codecs: ${images} JPEGs of ${WIDTH} × ${HEIGHT}`);
  const source = `mandelbrot=size=${WIDTH}x${HEIGHT}:rate=10,noise=alls=8`;
  await run([
    ...[
      "ffmpeg",
      "-nostdin",
      "-loglevel",
      "error",
      "-f",
      "lavfi",
      "-i",
      source,
    ],
    ...["-frames:v", `${images}`, "-q:v", "3", workspace.file("%06d.jpg")],
  ]);
  const files = await Promise.all(
    Array.from({ length: images }, (_, i) =>
      Deno.readFile(
        workspace.file(`${String(i + 1).padStart(6, "0")}.jpg`),
      )),
  );

  const rate = async (contender: Contender) => {
    const start = performance.now();
    await contender.run(files, workspace.path);
    return images / (performance.now() - start) * 1000;
  };
  const rows: Row[] = [];
  for (
    const [what, contenders] of [
      [`decode ${WIDTH} × ${HEIGHT}`, await decoders()],
      [`JPEG to JPEG with short edge ${edge}`, await resizers(edge)],
    ] as const
  ) {
    for (const contender of contenders) {
      await contender.run(files.slice(0, 5), workspace.path);
    }
    progress(`image_codecs: ${what}`);
    const rates = await alternate(contenders, rounds, rate);
    rows.push(...contenders.map(({ name }, i) => ({
      measured: `image_codecs, ${what}`,
      subject: name,
      value: median(rates[i]!),
      unit: "images/s",
      rounds: rates[i]!,
      ...(i === 0 ? {} : { ratio: median(rates[0]!) / median(rates[i]!) }),
    })));
  }
  return rows;
}

/** The default codec of recordfs comes first: the ratios of the others refer to it. */
const CODECS = ["turbojpeg", "sharp", "imagescript"] as const;

async function decoders(): Promise<Contender[]> {
  const { Image } = await import("imagescript");
  return [
    ...await Promise.all(CODECS.map(async (name) => {
      const codec = await imageCodec(name);
      return {
        name: `imageCodec("${name}")`,
        async run(files: readonly Uint8Array[]) {
          for (const file of files) await codec.decode(file);
        },
      };
    })),
    {
      name: "imagescript alone",
      async run(files) {
        for (const file of files) await Image.decode(file);
      },
    },
    {
      name: "ffmpeg, one process",
      run: (files, dir) =>
        ffmpeg(files, dir, ["-pix_fmt", "rgb24", "-f", "null", "-"]),
    },
  ];
}

async function resizers(edge: number): Promise<Contender[]> {
  const { Image } = await import("imagescript");
  const width = Math.floor(edge * (WIDTH / HEIGHT));
  return [
    ...await Promise.all(CODECS.map(async (name) => {
      const codec = await imageCodec(name);
      const options = { shortEdge: edge, quality: QUALITY };
      return {
        name: `imageCodec("${name}")`,
        async run(files: readonly Uint8Array[]) {
          for (const file of files) {
            await codec.jpegFromImageFile(file, options);
          }
        },
      };
    })),
    {
      name: "imagescript alone, nearest neighbour",
      async run(files) {
        for (const file of files) {
          const image = await Image.decode(file);
          await image.resize(width, edge).encodeJPEG(QUALITY);
        }
      },
    },
    {
      name: "ffmpeg, one process",
      run: (files, dir) =>
        ffmpeg(files, dir, [
          ...["-vf", `scale=${width}:${edge}:flags=bilinear`, "-q:v", "3"],
          ...["-c:v", "mjpeg", "-f", "image2pipe", "-"],
        ]),
    },
  ];
}

/** The fastest way to use ffmpeg: all images as one video, on one thread. */
async function ffmpeg(
  files: readonly Uint8Array[],
  dir: string,
  output: readonly string[],
): Promise<void> {
  const one = ["-threads", "1"];
  await run([
    ...["ffmpeg", "-nostdin", "-loglevel", "error", "-filter_threads", "1"],
    ...[...one, "-i", `${dir}/%06d.jpg`, "-frames:v", `${files.length}`],
    ...[...one, ...output],
  ]);
}

if (import.meta.main) await runAlone(imageCodecsBenchmark);
