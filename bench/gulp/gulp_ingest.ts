/**
 * Gulps a folder of JPEGs, resized, beside imagescript alone on one core.
 *
 *   deno run -A bench/gulp_ingest.ts [--images N] [--edge N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
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

const CLI = here("../../cli.ts");
const ALONE = here("./resize_images.ts");

const WIDTH = 640;
const HEIGHT = 480;

/** How many times as fast as imagescript alone on one core recordfs promises to be. */
const TARGET = 2;

/** `gulp_ingest`: images a second, from files to chunks. */
export const gulpIngestBenchmark: Benchmark = {
  name: "gulp_ingest",
  run: measure,
};

interface Contender {
  readonly name: string;
  /** Whether the promise is about it. */
  readonly promised?: true;
  command(images: string, out: string): string[];
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    images: 1000,
    edge: 256,
    rounds: 5,
  });
  const { images, edge, rounds } = numbers;
  await using workspace = await Workspace.create(dir, images * 400_000);
  progress(`gulp_ingest: ${images} JPEGs of ${WIDTH} × ${HEIGHT}`);
  const folder = workspace.file("images/mandelbrot");
  await Deno.mkdir(folder, { recursive: true });
  const source = `mandelbrot=size=${WIDTH}x${HEIGHT}:rate=10,noise=alls=8`;
  await run([
    ...["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i"],
    ...[source, "-frames:v", `${images}`, "-q:v", "3", `${folder}/%06d.jpg`],
  ]);

  let outs = 0;
  const contenders = makeContenders(edge);
  const rates = await alternate(contenders, rounds, async (contender) => {
    progress(`gulp_ingest: ${contender.name}`);
    const out = workspace.file(`out_${outs++}`);
    const start = performance.now();
    await run(contender.command(folder, out));
    const seconds = (performance.now() - start) / 1000;
    await Deno.remove(out, { recursive: true });
    return images / seconds;
  });
  const ours = median(rates[0]!);
  return contenders.map(({ name, promised }, i) => {
    const value = median(rates[i]!);
    const ratio = ours / value;
    return {
      measured: `gulp_ingest, ${images} JPEGs to short edge ${edge}`,
      subject: name,
      value,
      unit: "images/s",
      rounds: rates[i]!,
      ...(i === 0 ? {} : { ratio }),
      ...(promised
        ? { target: { promise: `≥ ${TARGET}×`, met: ratio >= TARGET } }
        : {}),
    };
  });
}

/** The first is recordfs as it is; the others' ratios are to it. */
function makeContenders(edge: number): Contender[] {
  const gulp = (name: string, ...flags: string[]): Contender => ({
    name,
    command: (images, out) => [
      ...[Deno.execPath(), "run", "-A", CLI, "gulp", "image-folder"],
      ...["--frame-size", `${edge}`, ...flags, images, out],
    ],
  });
  return [
    gulp("recordfs"),
    gulp("recordfs, one worker", "--num-workers", "1"),
    gulp("recordfs, imagescript's WebAssembly", "--codec", "imagescript"),
    {
      name: "imagescript alone on one core, nearest neighbour",
      promised: true,
      command: (images, out) => [
        ...["taskset", "-c", "0", Deno.execPath(), "run", "-A", ALONE],
        ...[images, out, `${edge}`],
      ],
    },
  ];
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(gulpIngestBenchmark);
