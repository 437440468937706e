/**
 * Opens, walks and mounts large containers: a million files, ten million samples, ten million datapoints, a million
 * files in one directory.
 *
 *   deno run -A bench/mount/scale.ts [--files N] [--samples N] [--datapoints N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { buildPrograms } from "./build.ts";
import { findRows } from "./scale/find.ts";
import { firstStatRows } from "./scale/first_stat.ts";
import { BYTES_PER_DATAPOINT, writeDatapoints } from "./scale/datapoints.ts";
import { openRows } from "./scale/open.ts";
import { FFRecordWriter } from "../../src/formats/ffrecord/mod.ts";
import type { MountedServer } from "../support/mounted_server.ts";
import { BYTES_PER_NAME, makePackedTree } from "./packed_tree.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { Workspace } from "../support/workspace.ts";

/** Files in each directory of the large folder. */
const IN_EACH = 1000;
/** Size of the larger folder relative to the smaller one, when opening is compared. */
const FACTOR = 5;
/** Memory limit of the mounted process for a million files, in MB. */
const MOST_MEGABYTES = 350;
/** Bytes of disk a sample takes: its table entries and its content. */
const BYTES_PER_SAMPLE = 12 + 8;

/** `scale`: opening, walking and mounting large containers. */
export const scaleBenchmark: Benchmark = { name: "scale", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    files: 1_000_000,
    samples: 10_000_000,
    datapoints: 10_000_000,
    rounds: 5,
  });
  const { files, samples, datapoints, rounds } = numbers;
  await using workspace = await Workspace.create(
    dir,
    3 * files * BYTES_PER_NAME + samples * BYTES_PER_SAMPLE +
      datapoints * BYTES_PER_DATAPOINT,
  );
  const { server } = await buildPrograms(workspace.path);
  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);
  const walk = {
    server,
    mountpoint,
    rounds,
    onMounted: (server: MountedServer) => mounted = server,
  };

  progress(`scale: packing ${files} files`);
  const directories = Math.ceil(files / IN_EACH);
  const tree = (name: string, directories: number, inEach: number) =>
    makePackedTree(workspace.file(name), directories, inEach);
  const large = await tree("large.ffr", directories, IN_EACH);
  const few = Math.ceil(directories / FACTOR);
  const small = await tree("small.ffr", few, IN_EACH);
  const rows = await openRows(small, large, rounds);
  const limit = { mostMegabytes: MOST_MEGABYTES };
  rows.push(...await findRows({ ...walk, ...limit, tree: large }));
  const flat = await tree("flat.ffr", 1, files);
  rows.push(...await findRows({ ...walk, ...limit, tree: flat }));

  progress(`scale: writing ${samples} samples`);
  const archive = workspace.file("samples.ffr");
  await writeSamples(archive, samples);
  const folder = workspace.path;
  rows.push(
    ...await firstStatRows({
      archive,
      content: `${samples} samples`,
      count: samples,
      pathOf: numberNames(samples),
      mountpoint,
      folder,
      rounds,
    }),
  );

  progress(`scale: writing ${datapoints} datapoints`);
  const dataset = workspace.file("dataset");
  await writeDatapoints(dataset, datapoints);
  const directoryOf = numberNames(datapoints);
  rows.push(
    ...await firstStatRows({
      archive: dataset,
      content: `${datapoints} datapoints`,
      count: datapoints,
      pathOf: (i) => `${directoryOf(i)}/id`,
      mountpoint,
      folder,
      rounds,
    }),
  );
  return rows;
}

/** Returns a function that formats indices with leading zeros. */
function numberNames(count: number): (index: number) => string {
  const digits = Math.max(6, String(count - 1).length);
  return (index) => String(index).padStart(digits, "0");
}

async function writeSamples(path: string, count: number): Promise<void> {
  await using writer = await FFRecordWriter.open(path, { count });
  const sample = new BigInt64Array(1);
  for (let i = 0; i < count; i++) {
    sample[0] = BigInt(i);
    await writer.write(sample);
  }
  await writer.close();
}

if (import.meta.main) await runAlone(scaleBenchmark);
