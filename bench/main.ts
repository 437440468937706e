/**
 * Runs the benchmarks and prints one table: `deno task bench [--dir FOLDER] [--json] [--save] [NAME…]`. With
 * `--save`, each benchmark's table is also written to `results/MACHINE-DATE.md` when it has ended.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { bagsBatchesBenchmark } from "./bags/bags_batches.ts";
import { bagsIndexBenchmark } from "./bags/bags_index.ts";
import { bagsReadBenchmark } from "./bags/bags_read.ts";
import { bagsWriteBenchmark } from "./bags/bags_write.ts";
import { copyBenchmark } from "./copy/copy.ts";
import { hdf5Benchmark } from "./formats/hdf5.ts";
import { imageCodecsBenchmark } from "./data/image_codecs.ts";
import { gulpClipsBenchmark } from "./gulp/gulp_clips.ts";
import { gulpIngestBenchmark } from "./gulp/gulp_ingest.ts";
import { gulpMetaBenchmark } from "./gulp/gulp_meta.ts";
import { gulpMountBenchmark } from "./gulp/gulp_mount.ts";
import { gulpReadBenchmark } from "./gulp/gulp_read.ts";
import { knownLoadersBenchmark } from "./data/known_loaders.ts";
import { knownMountsBenchmark } from "./formats/known_mounts.ts";
import { loaderBenchmark } from "./data/loader.ts";
import { mountBenchmark } from "./mount/mount.ts";
import { mountSuiteBenchmark } from "./mount/mount_suite.ts";
import { openPackedBenchmark } from "./ffrecord/open_packed.ts";
import { openRecordsBenchmark } from "./ffrecord/open_records.ts";
import { packFolderBenchmark } from "./ffrecord/pack_folder.ts";
import {
  compressedBenchmark,
  compressedNoiseBenchmark,
} from "./formats/compressed.ts";
import { parquetBenchmark } from "./formats/parquet.ts";
import { permutationBenchmark } from "./data/permutation.ts";
import { pictureMemoryBenchmark } from "./data/picture_memory.ts";
import { picturesBenchmark } from "./data/pictures.ts";
import { readBatchesBenchmark } from "./ffrecord/read_batches.ts";
import { recordsBenchmark } from "./formats/records.ts";
import { remoteBenchmark } from "./remote/remote.ts";
import { scaleBenchmark } from "./mount/scale.ts";
import { serveArchiveBenchmark } from "./serve/archive.ts";
import { serveBenchmark } from "./serve/serve.ts";
import {
  type Benchmark,
  printRows,
  progress,
  type Row,
} from "./support/report.ts";
import { saveResults } from "./support/results.ts";
import { startBenchmark } from "./install/start.ts";
import { mdsBenchmark } from "./formats/mds.ts";
import { tarBenchmark } from "./formats/tar.ts";
import { tfrecordBenchmark } from "./formats/tfrecord.ts";
import { servePageBenchmark } from "./serve/page.ts";
import { servePhotosBenchmark } from "./serve/photos.ts";
import { zipBenchmark } from "./formats/zip.ts";
import { videoFramesBenchmark } from "./data/video_frames.ts";
import { writeRecordsBenchmark } from "./ffrecord/write_records.ts";

const BENCHMARKS: readonly Benchmark[] = [
  bagsBatchesBenchmark,
  bagsIndexBenchmark,
  bagsReadBenchmark,
  bagsWriteBenchmark,
  compressedBenchmark,
  compressedNoiseBenchmark,
  copyBenchmark,
  imageCodecsBenchmark,
  knownLoadersBenchmark,
  knownMountsBenchmark,
  loaderBenchmark,
  mountBenchmark,
  mountSuiteBenchmark,
  openPackedBenchmark,
  openRecordsBenchmark,
  gulpClipsBenchmark,
  gulpIngestBenchmark,
  gulpMetaBenchmark,
  gulpMountBenchmark,
  gulpReadBenchmark,
  videoFramesBenchmark,
  packFolderBenchmark,
  parquetBenchmark,
  permutationBenchmark,
  pictureMemoryBenchmark,
  picturesBenchmark,
  readBatchesBenchmark,
  recordsBenchmark,
  remoteBenchmark,
  scaleBenchmark,
  startBenchmark,
  tarBenchmark,
  tfrecordBenchmark,
  serveArchiveBenchmark,
  servePageBenchmark,
  servePhotosBenchmark,
  serveBenchmark,
  writeRecordsBenchmark,
  zipBenchmark,
  mdsBenchmark,
  hdf5Benchmark,
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
