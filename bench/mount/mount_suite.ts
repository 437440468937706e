/**
 * Compares the mount with other file systems: reading, listing, mounting, memory.
 *
 *   deno run -A bench/mount/mount_suite.ts [--rounds N] [--only PATTERN] [--scale PERCENT] [--dir FOLDER]
 *     [--json]
 *
 * `--only` takes a regular expression that selects measurements by the table's first column: `--only 'cold.*100 KB'`.
 * `--scale` changes the number of files of each size, and the size of the file that is read from start to end.
 *
 * @module
 */
import { randomReads } from "./mount_suite/random_reads.ts";
import {
  makeFiles,
  makeTree,
  type Measurement,
  type Scene,
  sceneSize,
} from "./mount_suite/scene.ts";
import { sequentialRead } from "./mount_suite/sequential.ts";
import { walks } from "./mount_suite/walk.ts";
import { warmRequests } from "./mount_suite/warm_requests.ts";
import {
  type Benchmark,
  parseOptions,
  type Row,
  runAlone,
} from "../support/report.ts";
import { Workspace } from "../support/workspace.ts";

const READERS = [1, 2, 8];

/**
 * Number and size of the files that are read in random order. With far fewer files, much of the time would go to
 * compiling the code of recordfs, which takes 60 ms of CPU time on a fresh mount.
 */
const FILES = [
  { count: 100_000, size: 4096, name: "4 KB" },
  { count: 20_000, size: 100_000, name: "100 KB" },
  { count: 2000, size: 1_000_000, name: "1 MB" },
] as const;

/** Size of the files for which time to mount, memory and requests are also reported. */
const TYPICAL = 100_000;

/** Size of the file that is read from start to end, in bytes. */
const LARGE = 1e9;

const DIRECTORIES = 1000;
const FILES_IN_EACH = 1000;

/** `mount_suite`: the mount compared with other file systems. */
export const mountSuiteBenchmark: Benchmark = { name: "mount_suite", run };

/** Measurements that share their files. */
interface Section<S extends Scene> {
  /** Disk space needed, in bytes. */
  readonly bytes: number;
  prepare(workspace: Workspace): Promise<S>;
  readonly measurements: readonly Measurement<S>[];
}

async function run(args: string[]): Promise<Row[]> {
  const { numbers: { rounds, scale }, dir, only } = parseOptions(
    args,
    { rounds: 5, scale: 100 },
    [],
    true,
  );
  const pattern = new RegExp(only ?? "", "i");
  const isChosen = (title: string) => pattern.test(title);
  const scaled = (number: number) =>
    Math.max(1, Math.round(number * scale / 100));
  const rows: Row[] = [];
  for (const { count, size, name } of FILES) {
    const section = filesSection(rounds, scaled(count), size, name);
    rows.push(...await runSection(section, isChosen, dir));
  }
  const large = largeSection(rounds, scaled(LARGE));
  rows.push(...await runSection(large, isChosen, dir));
  const tree = treeSection(rounds, scaled(DIRECTORIES));
  rows.push(...await runSection(tree, isChosen, dir));
  if (rows.length > 0) return rows;
  throw new RangeError(`--only ${only}: nothing of that name is measured`);
}

async function runSection<S extends Scene>(
  { bytes, prepare, measurements }: Section<S>,
  isChosen: (title: string) => boolean,
  dir: string | undefined,
): Promise<Row[]> {
  const chosen = measurements.filter(({ titles }) => titles.some(isChosen));
  if (chosen.length === 0) return [];
  await using workspace = await Workspace.create(dir, bytes);
  const scene = await prepare(workspace);
  const rows: Row[] = [];
  for (const measurement of chosen) rows.push(...await measurement.run(scene));
  return rows.filter(({ measured }) => isChosen(measured));
}

function filesSection(
  rounds: number,
  count: number,
  size: number,
  name: string,
) {
  const label = `${count} × ${name}`;
  const isTypical = size === TYPICAL;
  return {
    bytes: sceneSize(count, count * size),
    prepare: (workspace: Workspace) =>
      makeFiles(workspace, rounds, count, size),
    measurements: [
      ...READERS.map((readers) => {
        const withCosts = isTypical && readers === 2;
        return randomReads({ label, size, readers, withCosts });
      }),
      ...(isTypical ? [warmRequests(label)] : []),
    ],
  };
}

function largeSection(rounds: number, size: number) {
  return {
    bytes: sceneSize(1, size),
    prepare: (workspace: Workspace) => makeFiles(workspace, rounds, 1, size),
    measurements: [sequentialRead(`${size / 1e6} MB`)],
  };
}

function treeSection(rounds: number, directories: number) {
  const files = directories * FILES_IN_EACH;
  return {
    bytes: sceneSize(files, 0),
    prepare: (workspace: Workspace) =>
      makeTree(workspace, rounds, directories, FILES_IN_EACH),
    measurements: [walks(`${files} files in ${directories} directories`)],
  };
}

if (import.meta.main) await runAlone(mountSuiteBenchmark);
