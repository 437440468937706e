/**
 * HDF5: reading rows in sequence, beside h5py, which reads them one by one. A row is a picture of 64 x 64 pixels and its
 * label; the file is stored as it is, or compressed by gzip in chunks of 16 rows.
 *
 *   deno run -A bench/formats/hdf5.ts [--rows N] [--side PIXELS] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { openSamples } from "../../mod.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { run, runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";

const SCRIPT = fileURLToPath(
  new URL("../reference/hdf5_rows.py", import.meta.url),
);
const BATCH = 64;

/** `hdf5`: rows in sequence. */
export const hdf5Benchmark: Benchmark = { name: "hdf5", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    rows: 5000,
    side: 64,
    rounds: 5,
  });
  const { rows, side, rounds } = numbers;
  await using workspace = await Workspace.create(dir, 8 * rows * side * side);
  const measured: Row[] = [];
  for (const filter of ["none", "gzip"]) {
    const path = workspace.file(`${filter}.h5`);
    progress(`hdf5: writing ${rows} rows, compression ${filter}`);
    await run([PYTHON, SCRIPT, "write", path, `${rows}`, `${side}`, filter]);
    const contenders = [
      {
        name: "openSamples().batches of 64",
        async pass() {
          using samples = await openSamples(path);
          for await (const rows of samples.batches({ batch: BATCH })) {
            rows.forEach(touch);
          }
        },
      },
      {
        name: "openSamples().get, row by row",
        async pass() {
          using samples = await openSamples(path);
          for (let i = 0; i < rows; i++) touch(await samples.get(i));
        },
      },
      { name: "h5py, row by row", target: 0.8 },
    ];
    const seconds = await alternate(contenders, rounds, async (contender) => {
      progress(`hdf5: ${contender.name}`);
      const { pass } = contender;
      if (pass === undefined) {
        return await runJson<number>([PYTHON, SCRIPT, "read", path]);
      }
      const start = performance.now();
      await pass();
      return (performance.now() - start) / 1000;
    });
    measured.push(...rowsBesideFirst(
      `hdf5, rows in sequence, compression ${filter}`,
      "rows/s",
      contenders,
      seconds.map((rounds) => rounds.map((taken) => rows / taken)),
    ));
  }
  return measured;
}

/** Looks at a row, so that nobody is spared the making of it. */
function touch(row: unknown): void {
  const { images, labels } = row as {
    images: { data: Uint8Array };
    labels: number;
  };
  if (!(labels + images.data[0]! >= 0)) throw new Error("no row");
}

if (import.meta.main) await runAlone(hdf5Benchmark);
