/**
 * Opens a chunk of 1,000,000 frames, compared with `JSON.parse` of its `.gmeta` and a walk over the result.
 *
 *   deno run -A bench/gulp/gulp_meta.ts [--frames N] [--videos N] [--rounds N] [--times N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import type { MetaOpening } from "./open_gulp_meta.ts";
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

const OPEN = fileURLToPath(
  new URL("./open_gulp_meta.ts", import.meta.url),
);

/** Most bytes of text a frame takes. */
const BYTES_PER_FRAME = 32;

/** `gulp_meta`: time and memory of opening a chunk of many frames. */
export const gulpMetaBenchmark: Benchmark = { name: "gulp_meta", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    frames: 1_000_000,
    videos: 10_000,
    rounds: 5,
    times: 5,
  });
  const { frames, videos, rounds, times } = numbers;
  await using workspace = await Workspace.create(dir, frames * BYTES_PER_FRAME);
  const data = workspace.file("data_0.gulp");
  const meta = workspace.file("meta_0.gmeta");
  progress(`gulp_meta: writing the meta of ${frames} frames`);
  writeChunk(data, meta, frames, videos);

  const contenders = [
    { name: "GulpChunk.load", who: "ours" },
    { name: "JSON.parse + walk", who: "json" },
  ];
  const measured = await alternate(contenders, rounds, ({ name, who }) => {
    progress(`gulp_meta: ${name}`);
    return runJson<MetaOpening>([
      ...[Deno.execPath(), "run", "-A", "--v8-flags=--expose-gc"],
      ...[OPEN, who, data, meta, `${times}`],
    ]);
  });
  const sums = new Set(measured.flat().map(({ sum }) => sum));
  if (sums.size > 1) throw new Error("They do not read the same");

  const what = `gulp_meta, ${frames} frames in ${videos} videos`;
  const rowsOf = (
    part: string,
    promise: number,
    pick: (opening: MetaOpening) => number,
  ): Row[] => {
    const figures = measured.map((openings) => openings.map(pick));
    const ratio = median(figures[1]!) / median(figures[0]!);
    return contenders.map(({ name }, i) => ({
      measured: `${what}: ${part}`,
      subject: name,
      value: median(figures[i]!),
      unit: "ms",
      rounds: figures[i]!,
      ...(i === 0 ? {} : {
        ratio,
        target: { promise: `≥ ${promise}×`, met: ratio >= promise },
      }),
    }));
  };
  const bytes = measured.map((openings) =>
    openings.map(({ grown }) => median(grown.slice(1)) / frames)
  );
  return [
    ...rowsOf("first in the process", 1.5, ({ taken }) => taken[0]!),
    ...rowsOf("later ones", 1.5, ({ taken }) => median(taken.slice(1))),
    ...contenders.map(({ name }, i): Row => ({
      measured: `${what}: RssAnon of one more`,
      subject: name,
      value: median(bytes[i]!),
      unit: "bytes/frame",
      rounds: bytes[i]!,
      ...(i > 0 ? {} : {
        target: { promise: "≤ 16 bytes", met: median(bytes[0]!) <= 16 },
      }),
    })),
  ];
}

/** Writes a `.gmeta` as Python's `json.dump` does, and a sparse data file of the right size. */
function writeChunk(
  data: string,
  meta: string,
  frames: number,
  videos: number,
): void {
  const file = fs.openSync(meta, "w");
  let loc = 0;
  for (let video = 0; video < videos; video++) {
    const from = Math.floor(video * frames / videos);
    const to = Math.floor((video + 1) * frames / videos);
    const infos = Array.from({ length: to - from }, (_, i) => {
      const size = 20_000 + (from + i) * 7919 % 10_000;
      const pad = (4 - size % 4) % 4;
      loc += size + pad;
      return `[${loc - size - pad}, ${pad}, ${size + pad}]`;
    });
    fs.writeSync(
      file,
      `${video === 0 ? "{" : ", "}"video_${video}": {"meta_data": ` +
        `[{"label": "label ${video % 100}", "idx": ${video % 100}}], ` +
        `"frame_info": [${infos.join(", ")}]}`,
    );
  }
  fs.writeSync(file, "}");
  fs.closeSync(file);
  fs.writeFileSync(data, "");
  fs.truncateSync(data, loc);
}

if (import.meta.main) await runAlone(gulpMetaBenchmark);
