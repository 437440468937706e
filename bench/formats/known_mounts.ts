/**
 * Mounts tars, compared with `ratarmount`, the best-known program for it: from the start of the program to the first
 * listing and until all names are listed, of a tar new to both and of one whose index each has cached; and reads all
 * files in random order, with one reader and with two.
 *
 *   deno run -A bench/formats/known_mounts.ts [--members N] [--files N] [--size BYTES] [--rounds N] [--dir FOLDER]
 *       [--json]
 *
 * Needs 1.4 GB of disk, and 3 GB of memory: the tars are in the page cache.
 *
 * @module
 */
import * as fs from "node:fs";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { Workspace } from "../support/workspace.ts";
import {
  mountingRows,
  ratarmount,
  readingRows,
  recordfsMount,
  type Start,
} from "./archive_mounts.ts";
import { writeFilesTar, writeTar } from "./write_tar.ts";

/** Bytes of a member whose content does not matter. */
const SMALL = 100;
const READERS = [1, 2];

/** `known_mounts`: mounting and reading tars. */
export const knownMountsBenchmark: Benchmark = { name: "known_mounts", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    members: 300_000,
    files: 10_000,
    size: 100_000,
    rounds: 3,
  });
  const { members, files, size, rounds } = numbers;
  const bytes = 1200 * members + files * (size + 1024);
  await using workspace = await Workspace.create(dir, bytes);
  const many = workspace.file("members.tar");
  progress(`known_mounts: writing ${members} members`);
  writeTar(many, members, () => new Uint8Array(SMALL));
  const rows: Row[] = [];
  for (const start of ["first", "again"] as const) {
    const what = start === "first" ? "tar mounted" : "tar mounted again";
    const of = { what, mounters: mounters(workspace, many, start), rounds };
    // Uses the indexes that the last of the first mounts left.
    rows.push(...await mountingRows(workspace, of, members));
  }
  fs.rmSync(many);
  const large = workspace.file("files.tar");
  progress(`known_mounts: writing ${files} files of ${size} bytes`);
  writeFilesTar(large, files, size);
  const of = { what: "tar", mounters: mounters(workspace, large), rounds };
  for (const readers of READERS) {
    const read = { count: files, size };
    rows.push(...await readingRows(workspace, of, read, readers));
  }
  return rows;
}

function mounters(workspace: Workspace, path: string, start?: Start) {
  return [
    recordfsMount(workspace, path, start),
    ratarmount(path, undefined, start),
  ];
}

if (import.meta.main) await runAlone(knownMountsBenchmark);
