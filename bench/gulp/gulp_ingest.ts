/**
 * Gulps a folder of JPEGs, resized, compared with GulpIO2 with as many processes, and with imagescript alone on one
 * core.
 *
 *   deno run -A bench/gulp/gulp_ingest.ts [--images N] [--edge N] [--rounds N] [--dir FOLDER] [--json]
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
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { alternate } from "../support/rounds.ts";
import { run } from "../support/run.ts";
import { HEIGHT, jpegFiles, WIDTH } from "../data/jpeg_records.ts";
import { gulpio2 } from "./gulpio2.ts";
import { Workspace } from "../support/workspace.ts";

const CLI = here("../../cli.ts");
const ALONE = here("./resize_images.ts");

const PYTHON = here("../reference/gulp_ingest.py");

/** Number of threads of recordfs, and of GulpIO2's processes. */
const WORKERS = 2;

/** `gulp_ingest`: images a second, from files to chunks. */
export const gulpIngestBenchmark: Benchmark = {
  name: "gulp_ingest",
  run: measure,
};

interface Contender extends Compared {
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
  await jpegFiles(folder, images);

  let outs = 0;
  const contenders = makeContenders(edge, await gulpio2());
  const rates = await alternate(contenders, rounds, async (contender) => {
    progress(`gulp_ingest: ${contender.name}`);
    const out = workspace.file(`out_${outs++}`);
    const start = performance.now();
    await run(contender.command(folder, out));
    const seconds = (performance.now() - start) / 1000;
    await Deno.remove(out, { recursive: true });
    return images / seconds;
  });
  const measured = `gulp_ingest, ${images} JPEGs to short edge ${edge}`;
  return rowsBesideFirst(measured, "images/s", contenders, rates);
}

/** Returns contenders, recordfs first: the ratios of the others refer to it. */
function makeContenders(
  edge: number,
  python: readonly string[] | undefined,
): Contender[] {
  const gulp = (name: string, ...flags: string[]): Contender => ({
    name,
    command: (images, out) => [
      ...[Deno.execPath(), "run", "-A", CLI, "gulp", "image-folder"],
      ...["--frame-size", `${edge}`, ...flags, images, out],
    ],
  });
  return [
    gulp("recordfs", "--num-workers", `${WORKERS}`),
    ...python === undefined ? [] : [{
      name: `gulpio2 with OpenCV, ${WORKERS} processes`,
      target: 1.3,
      command: (images: string, out: string) => [
        ...[...python, PYTHON, images, out, `${edge}`, `${WORKERS}`],
      ],
    }],
    gulp("recordfs, one worker", "--num-workers", "1"),
    gulp("recordfs, imagescript's WebAssembly", "--codec", "imagescript"),
    {
      name: "imagescript alone on one core, nearest neighbour",
      target: 2,
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
