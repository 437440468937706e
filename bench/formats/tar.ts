/**
 * Opens a tar of 1,000,000 members, compared with Python's `tarfile`; opens it again with the cached index; reads
 * through a mount, compared with a mount of an FFRecord folder of the same files and with other programs that mount
 * tars: `archivemount` and `ratarmount`.
 *
 *   deno run -A bench/formats/tar.ts [--members N] [--files N] [--size BYTES] [--listed N] [--read N] [--rounds N]
 *       [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPrograms } from "../mount/build.ts";
import { readPasses } from "../mount/reader.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import { MountedServer } from "../support/mounted_server.ts";
import {
  makePackedDirectorySync,
  type PackedDirectory,
} from "../support/packed_directory.ts";
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
import {
  archivemount,
  listingRows,
  type Mounter,
  ratarmount,
  readingRows,
  recordfsMount,
} from "./archive_mounts.ts";
import { writeFilesTar, writeTar } from "./write_tar.ts";

const OURS = here("./open_tar.ts");
const CLI = here("../../cli.ts");

/** Lists all members in Python. */
const SCRIPT = `
import json, sys, tarfile, time
start = time.perf_counter()
with tarfile.open(sys.argv[1]) as tar:
    members = len(tar.getmembers())
print(json.dumps({"ms": 1000 * (time.perf_counter() - start), "members": members}))
`;
import { PYTHON } from "../../test/support/programs/programs.ts";

/** Bytes of a member of which only the name matters. */
const SMALL = 100;
/** Promised speed relative to other programs that mount tars. */
const TARGET = 2;
/** Upper limit of opening with a cached index, in milliseconds. */
const AGAIN = 300;

/** `tar`: opening, and reading through a mount. */
export const tarBenchmark: Benchmark = { name: "tar", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    members: 1_000_000,
    files: 20_000,
    size: 100_000,
    listed: 1_000_000,
    read: 2_000,
    rounds: 5,
  });
  const { members, files, size, rounds } = numbers;
  const bytes = Math.max(1024 * members, 2 * files * (size + 1024));
  await using workspace = await Workspace.create(dir, bytes);
  const opening = await measureOpening(workspace, members, rounds);
  const mounting = await measureMounts(workspace, files, size, rounds);
  const { listed, read } = numbers;
  const others = await measureOthers(workspace, { listed, read, size, rounds });
  return [...opening, ...mounting, ...others];
}

/**
 * Compares with other programs. The files are few, since `archivemount` searches for each from the start of the tar.
 */
async function measureOthers(
  workspace: Workspace,
  { listed, read, size, rounds }: Record<
    "listed" | "read" | "size" | "rounds",
    number
  >,
): Promise<Row[]> {
  const many = workspace.file("listed.tar");
  writeTar(many, listed, () => new Uint8Array(SMALL));
  const rows = await listingRows(workspace, {
    what: "tar",
    mounters: mounters(workspace, many),
    rounds,
  }, listed);
  fs.rmSync(many);
  const few = workspace.file("read.tar");
  writeFilesTar(few, read, size);
  rows.push(
    ...await readingRows(workspace, {
      what: "tar",
      mounters: mounters(workspace, few),
      rounds,
    }, { count: read, size }),
  );
  return rows;
}

/** Returns programs that mount a tar, recordfs first. */
function mounters(workspace: Workspace, path: string): Mounter[] {
  return [
    recordfsMount(workspace, path),
    archivemount(path, TARGET),
    ratarmount(path, TARGET),
  ];
}

interface Opened {
  readonly ms: number;
  readonly members: number;
}

async function measureOpening(
  workspace: Workspace,
  members: number,
  rounds: number,
): Promise<Row[]> {
  const path = workspace.file("members.tar");
  progress(`tar: writing ${members} members`);
  writeTar(path, members, () => new Uint8Array(SMALL));
  const cache = workspace.file("cache");
  const ours = [Deno.execPath(), "run", "-A", OURS, path];
  const contenders = [
    { name: "open", command: ours },
    {
      name: "Python, tarfile.getmembers",
      command: [PYTHON, "-c", SCRIPT, path],
      target: 3,
    },
  ];
  const open = async (command: readonly string[]) => {
    const opened = await runJson<Opened>(command);
    if (opened.members === members) return opened.ms;
    throw new Error(`${command[0]} found ${opened.members} of ${members}`);
  };
  const taken = await alternate(contenders, rounds, ({ name, command }) => {
    progress(`tar: ${name}`);
    return open(command);
  });
  const rows = rowsBesideFirst(
    `tar, opening ${members} members`,
    "members/s",
    contenders,
    taken.map((times) => times.map((ms) => 1000 * members / ms)),
  );
  const again: number[] = [];
  await open([...ours, cache]); // writes the index cache
  for (let round = 0; round < rounds; round++) {
    again.push(await open([...ours, cache]));
  }
  fs.rmSync(path);
  return [...rows, {
    measured: `tar, opening ${members} members again`,
    subject: "open, by the kept index",
    value: median(again),
    unit: "ms",
    rounds: again,
    target: { promise: `< ${AGAIN} ms`, met: median(again) < AGAIN },
  }];
}

async function measureMounts(
  workspace: Workspace,
  files: number,
  size: number,
  rounds: number,
): Promise<Row[]> {
  const { reader } = await buildPrograms(workspace.path);
  progress(`tar: writing ${files} files twice`);
  const packed = makePackedDirectorySync(
    workspace.file("a.ffr"),
    files,
    size,
  );
  const tar = workspace.file("a.tar");
  writeTar(tar, files, contentsOf(packed), (i) => packed.names[i]!);
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);
  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  const touch = `${Math.ceil(1.25 * files * size / 2 ** 20)}`;
  const contenders = [
    { name: "recordfs, tar", source: tar },
    { name: "recordfs, FFRecord", source: packed.archive, target: 0.95 },
  ];
  const rates = await alternate(
    contenders,
    rounds,
    async ({ name, source }, round) => {
      progress(`tar: mounts, round ${round + 1} of ${rounds}, ${name}`);
      await bringIntoMemory(source);
      mounted = await MountedServer.start(
        [Deno.execPath(), "run", "-A", CLI, "mount", "-f", source, mountpoint],
        mountpoint,
      );
      const [pass] = await readPasses(
        [reader, "--touch", touch, mountpoint],
        files * size,
      );
      await mounted.stop();
      return pass!.filesPerSecond;
    },
  );
  const measured = `tar, mounted, random order: ${files} × ${size} bytes`;
  return rowsBesideFirst(measured, "files/s", contenders, rates);
}

/** Returns the contents of a packed directory's files. */
function contentsOf({ archive, offsets, size }: PackedDirectory) {
  const fd = fs.openSync(archive, "r");
  const content = new Uint8Array(size);
  return (i: number) => {
    fs.readSync(fd, content, 0, size, offsets[i]!);
    return content;
  };
}

/** Reads a file into the page cache, so that the figures do not depend on the disk. */
async function bringIntoMemory(path: string): Promise<void> {
  using file = await Deno.open(path);
  const buffer = new Uint8Array(1 << 20);
  while (await file.read(buffer) !== null) { /* on to the next piece */ }
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(tarBenchmark);
