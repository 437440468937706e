/**
 * Packs, extracts, checks and converts by the command line, compared with the usual programs: GNU tar, `cp -r`,
 * `cksum` and `cat`, each timed as a process of its own.
 *
 *   deno run -A bench/copy/copy.ts [--large N] [--small N] [--megabytes N] [--converted N] [--rounds N]
 *     [--dir FOLDER]… [--only REGEX] [--json]
 *
 * `waiting` includes a `sync -f` of the target after either program; `not waiting` compares `--sync none` with tar
 * alone. `cold` empties the system's caches first, which needs root. Without `--dir`, measures on the file system of
 * temporary files and separately on that of `/dev/shm`.
 *
 * @module
 */
import {
  type Benchmark,
  parseOptions,
  type Row,
  runAlone,
} from "../support/report.ts";
import { checkRows } from "./check_rows.ts";
import { convertRows } from "./convert_rows.ts";
import { Place } from "./place.ts";
import { packRows } from "./pack_rows.ts";

/** Files to pack: `count` files of `bytes` bytes, in directories of equal size. */
export interface FileSet {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  readonly directories: number;
  /** Least promised speed of packing and extracting, relative to tar, without waiting for the disk. */
  readonly targets: {
    readonly pack: number;
    readonly extract: number;
    readonly notWaiting: number;
  };
}

/** `copy`: bytes a second of packing, extracting, checking and converting. */
export const copyBenchmark: Benchmark = { name: "copy", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir, only } = parseOptions(
    args,
    {
      large: 20_000,
      small: 100_000,
      megabytes: 4096,
      converted: 2000,
      rounds: 3,
    },
    [],
    true,
  );
  const { large, small, megabytes, converted, rounds } = numbers;
  const sets: FileSet[] = [
    {
      name: `${large} × 100 KB`,
      count: large,
      bytes: 100_000,
      directories: 20,
      targets: { pack: 1.4, extract: 1, notWaiting: 0.8 },
    },
    {
      name: `${small} × 1 KB`,
      count: small,
      bytes: 1000,
      directories: 100,
      targets: { pack: 1.4, extract: 1, notWaiting: 0.6 },
    },
    {
      name: `1 × ${megabytes} MiB`,
      count: 1,
      bytes: megabytes * 2 ** 20,
      directories: 1,
      targets: { pack: 1, extract: 1, notWaiting: 1 },
    },
  ];
  const rows: Row[] = [];
  const wanted = new RegExp(only ?? "", "i");
  for (const parent of dir === undefined ? [undefined, "/dev/shm"] : [dir]) {
    for (const set of sets) {
      // Room for the files and both containers.
      const room = 3 * roomFor(set);
      await using place = await Place.make(parent, room, rounds, wanted);
      rows.push(...await packRows(place, set));
      if (set.count === 1) rows.push(...await checkRows(place, set));
    }
    const room = 3 * converted * 1.3e6; // room for partly filled blocks and directories
    await using place = await Place.make(parent, room, rounds, wanted);
    rows.push(...await convertRows(place, converted));
  }
  return rows;
}

/** Returns the disk space of the files in bytes, rounded up to whole blocks. */
function roomFor({ count, bytes }: FileSet): number {
  return count * Math.ceil(bytes / 4096) * 4096;
}

if (import.meta.main) await runAlone(copyBenchmark);
