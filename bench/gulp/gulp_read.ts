/**
 * Reads frames of random videos as undecoded JPEGs: whole videos and single frames, compared with GulpIO2's loop.
 *
 *   deno run -A bench/gulp/gulp_read.ts [--chunks N] [--videos N] [--frames N] [--size BYTES]
 *     [--requests N] [--rounds N] [--dir FOLDER] [--json]
 *
 * `--videos` is the number a chunk.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { makeGulpFolderSync } from "./gulp_directory.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";
import { PEERS_PYTHON } from "../../test/support/programs/programs.ts";
import { run, runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const PYTHON = here("../reference/gulp_read.py");
const OURS = here("./read_gulp_videos.ts");

/** How a program reads: its call, and its promised speed relative to GulpIO2's loop. */
interface Way {
  readonly call: string;
  readonly promise?: number;
}

/** Loads, and the ways recordfs reads them. */
const LOADS: Record<"videos" | "frames", Record<string, Way>> = {
  videos: {
    "getRawSync": { call: "getRawSync" },
    "getRawSync into FrameMemory": { call: "reuseSync", promise: 1.5 },
    "unsafeView": { call: "unsafeView", promise: 4 },
  },
  frames: {
    "getRawSync": { call: "getRawSync" },
    "getRawSync into FrameMemory": { call: "reuseSync", promise: 1 },
    "unsafeView": { call: "unsafeView" },
  },
};

/** Single frames requested instead of one video. */
const FRAMES_PER_VIDEO = 20;

/** `gulp_read`: videos and single frames a second. */
export const gulpReadBenchmark: Benchmark = { name: "gulp_read", run: measure };

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    chunks: 4,
    videos: 80,
    frames: 100,
    size: 25_000,
    requests: 1000,
    rounds: 7,
  });
  const { chunks, videos, frames, size, requests, rounds } = numbers;
  const disk = chunks * videos * frames * (size + 64);
  await using workspace = await Workspace.create(dir, disk);
  progress(`gulp_read: writing ${chunks * videos} videos`);
  const { path, ids } = makeGulpFolderSync(workspace.file("gulp"), numbers);
  const references = await makeReferences(path);

  const rows: Row[] = [];
  const random = randomNumbers();
  for (const what of ["videos", "frames"] as const) {
    const whole = what === "videos";
    const count = whole ? requests : requests * FRAMES_PER_VIDEO;
    const list = Array.from(
      { length: count },
      () => [ids[random(ids.length)], whole ? null : random(frames)],
    );
    const file = workspace.file(`${what}.json`);
    await Deno.writeTextFile(file, JSON.stringify(list));
    const contenders = [
      ...Object.entries(LOADS[what]).map(([name, { call }]) => ({
        name,
        command: [Deno.execPath(), "run", "-A", OURS, call, path],
      })),
      ...references,
    ];
    const expected = count * size * (whole ? frames : 1);
    const rates = await alternate(contenders, rounds, async (contender) => {
      progress(`gulp_read: ${what}, ${contender.name}`);
      const { seconds, bytes } = await runJson<
        { seconds: number; bytes: number }
      >([...contender.command, file]);
      if (bytes === expected) return count / seconds;
      throw new Error(`${contender.name} read ${bytes} of ${expected} bytes`);
    });
    const title = whole ? `${frames} × ${size} bytes` : `${size} bytes`;
    rows.push(...makeRows(what, title, contenders, rates));
  }
  return rows;
}

/** Returns GulpIO2's loop, and the library itself if Python has it. */
async function makeReferences(path: string): Promise<Contender[]> {
  const python = (name: string, way: string) => ({
    name,
    command: [PEERS_PYTHON, PYTHON, way, path],
  });
  const loop = python("GulpIO2's loop, in Python", "loop");
  return await hasLibrary() ? [loop, python("gulpio2", "library")] : [loop];
}

async function hasLibrary(): Promise<boolean> {
  try {
    await run([PEERS_PYTHON, "-c", "import gulpio2"]);
    return true;
  } catch {
    return false;
  }
}

/** Returns a row for each way of recordfs, followed by one for each reference. */
function makeRows(
  what: "videos" | "frames",
  title: string,
  contenders: readonly Contender[],
  rates: readonly number[][],
): Row[] {
  const ways = Object.entries(LOADS[what]);
  const unit = `${what}/s`;
  return ways.flatMap(([name, { promise }], i) => {
    const measured = `gulp_read, random ${what} of ${title}: ${name}`;
    const ours = median(rates[i]!);
    const row = { measured, subject: "recordfs", value: ours, unit };
    const others = contenders.slice(ways.length).map(({ name }, k): Row => {
      const rounds = rates[ways.length + k]!;
      const value = median(rounds);
      const ratio = ours / value;
      const target = k > 0 || promise === undefined
        ? {}
        : { target: { promise: `≥ ${promise}×`, met: ratio >= promise } };
      return { measured, subject: name, value, unit, rounds, ratio, ...target };
    });
    return [{ ...row, rounds: rates[i]! }, ...others];
  });
}

/** Returns a seeded generator of random numbers, the same in each run. */
function randomNumbers(): (below: number) => number {
  let state = 0x2545f491;
  return (below) => {
    state ^= state << 13; // xorshift32
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(gulpReadBenchmark);
