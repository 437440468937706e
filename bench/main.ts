/**
 * Runs the benchmarks and prints one table: `deno task bench [--dir FOLDER] [--json] [--save] [NAME…]`.
 * With `--save`, each one's table goes to `results/MACHINE-DATE.md` as well, when it has ended.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { bagsBatchesBenchmark } from "./bags_batches.ts";
import { bagsIndexBenchmark } from "./bags_index.ts";
import { bagsReadBenchmark } from "./bags_read.ts";
import { bagsWriteBenchmark } from "./bags_write.ts";
import { imageCodecsBenchmark } from "./image_codecs.ts";
import { gulpIngestBenchmark } from "./gulp_ingest.ts";
import { gulpMetaBenchmark } from "./gulp_meta.ts";
import { gulpMountBenchmark } from "./gulp_mount.ts";
import { gulpReadBenchmark } from "./gulp_read.ts";
import { loaderBenchmark } from "./loader.ts";
import { mountBenchmark } from "./mount.ts";
import { mountSuiteBenchmark } from "./mount_suite.ts";
import { openPackedBenchmark } from "./open_packed.ts";
import { openRecordsBenchmark } from "./open_records.ts";
import { packFolderBenchmark } from "./pack_folder.ts";
import { permutationBenchmark } from "./permutation.ts";
import { picturesBenchmark } from "./pictures.ts";
import { readBatchesBenchmark } from "./read_batches.ts";
import { scaleBenchmark } from "./scale.ts";
import {
  type Benchmark,
  printRows,
  progress,
  type Row,
} from "./support/report.ts";
import { saveResults } from "./support/results.ts";
import { videoFramesBenchmark } from "./video_frames.ts";
import { writeRecordsBenchmark } from "./write_records.ts";

const BENCHMARKS: readonly Benchmark[] = [
  bagsBatchesBenchmark,
  bagsIndexBenchmark,
  bagsReadBenchmark,
  bagsWriteBenchmark,
  imageCodecsBenchmark,
  loaderBenchmark,
  mountBenchmark,
  mountSuiteBenchmark,
  openPackedBenchmark,
  openRecordsBenchmark,
  gulpIngestBenchmark,
  gulpMetaBenchmark,
  gulpMountBenchmark,
  gulpReadBenchmark,
  videoFramesBenchmark,
  packFolderBenchmark,
  permutationBenchmark,
  picturesBenchmark,
  readBatchesBenchmark,
  scaleBenchmark,
  writeRecordsBenchmark,
];

const { values, positionals } = parseArgs({
  options: {
    dir: { type: "string" },
    json: { type: "boolean" },
    save: { type: "boolean" },
  },
  allowPositionals: true,
});
const chosen = positionals.length === 0
  ? BENCHMARKS
  : positionals.map((name) => {
    const benchmark = BENCHMARKS.find((known) => known.name === name);
    if (benchmark !== undefined) return benchmark;
    const names = BENCHMARKS.map((known) => known.name).join(", ");
    throw new RangeError(`There is no benchmark '${name}': choose of ${names}`);
  });
const rows: Row[] = [];
for (const benchmark of chosen) {
  const measured = await benchmark.run(
    values.dir === undefined ? [] : ["--dir", values.dir],
  );
  rows.push(...measured);
  if (values.save !== true) continue;
  const file = saveResults(benchmark.name, measured);
  progress(`${benchmark.name}: saved to results/${file}`);
}
printRows(rows, values.json === true);
