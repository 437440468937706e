/**
 * Takes random clips of gulped videos, decoded and transformed for training, compared with GulpIO2 in Python
 * processes.
 *
 *   deno run -A bench/gulp/gulp_clips.ts [--videos N] [--frames N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { jpegFiles } from "../data/jpeg_records.ts";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { gulpio2 } from "./gulpio2.ts";
import { writeGulpChunkSync } from "./gulp_directory.ts";

const OWN = fileURLToPath(new URL("./clip_passes.ts", import.meta.url));
const PEER = fileURLToPath(
  new URL("../reference/gulp_clips.py", import.meta.url),
);

/** Size of the frames in pixels. */
const [WIDTH, HEIGHT] = [341, 256] as const;
/** Frames of a clip, and the step between them. */
const [LENGTH, STEP] = [8, 2] as const;
const EDGE = 224;
/** Videos a chunk. */
const CHUNK = 50;

/** Promised speed relative to GulpIO2. */
const TARGET = 1.3;

/** Counted passes a turn; each turn has processes of its own. */
const PASSES = 2;

/** `gulp_clips`: clips a second, from chunks to float arrays. */
export const gulpClipsBenchmark: Benchmark = {
  name: "gulp_clips",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    videos: 200,
    frames: 100,
    rounds: 5,
  });
  const { videos, frames, rounds } = numbers;
  await using workspace = await Workspace.create(dir, videos * frames * 60_000);
  progress(`gulp_clips: making ${2 * frames} JPEGs of ${WIDTH} × ${HEIGHT}`);
  const size = `${WIDTH}x${HEIGHT}`;
  const files = await jpegFiles(workspace.path, 2 * frames, size);
  const jpegs = files.map((file) => Deno.readFileSync(file));
  const path = workspace.file("gulp");
  // Each video is a different window of the same frames.
  await Deno.mkdir(path);
  for (let video = 0; video < videos; video += CHUNK) {
    const length = Math.min(CHUNK, videos - video);
    const ids = Array.from({ length }, (_, i) => video + i);
    writeGulpChunkSync(
      path,
      video / CHUNK,
      new Map(ids.map((i) => {
        const first = i % frames;
        return [`video_${i}`, jpegs.slice(first, first + frames)];
      })),
    );
  }
  const python = await gulpio2();
  const rows: Row[] = [];
  for (const workers of [2, 1]) {
    rows.push(...await besidePython(python, { path, frames, workers, rounds }));
  }
  return rows;
}

async function besidePython(
  python: readonly string[] | undefined,
  { path, frames, workers, rounds }: {
    readonly path: string;
    readonly frames: number;
    readonly workers: number;
    readonly rounds: number;
  },
): Promise<Row[]> {
  const measured =
    `gulp_clips, ${LENGTH} of ${frames} frames of ${WIDTH} × ${HEIGHT}, ${workers} workers`;
  const clip = [LENGTH, STEP, EDGE, workers, PASSES].map(String);
  const own = [Deno.execPath(), "run", "-A", OWN];
  const contenders: (Compared & { run(): Promise<number[]> })[] = [
    {
      name: "recordfs DataLoader, recycle",
      run: () => runJson<number[]>([...own, "recycle", path, ...clip]),
    },
    {
      name: "recordfs DataLoader",
      run: () => runJson<number[]>([...own, "leave", path, ...clip]),
    },
  ];
  if (python !== undefined) {
    const peer = (name: string, way: string) => ({
      name: `gulpio2 with OpenCV, ${name}`,
      target: TARGET,
      run: () => runJson<number[]>([...python, PEER, way, path, ...clip]),
    });
    contenders.push(
      peer(`${workers} processes that keep their clips`, "pool"),
      peer(`torch's DataLoader, ${workers} workers`, "torch"),
    );
  }
  progress(`${measured}: ${rounds} rounds`);
  const rates = await alternate(
    contenders,
    rounds,
    async (contender) => median(await contender.run()),
  );
  return rowsBesideFirst(measured, "clips/s", contenders, rates);
}

if (import.meta.main) await runAlone(gulpClipsBenchmark);
