/**
 * Opens a zip of many members, compared with Python's `zipfile`; mounts zips, compared with `fuse-zip`: until all
 * names are listed, and reading all files in random order, deflated and stored.
 *
 *   deno run -A bench/formats/zip.ts [--members N] [--files N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { runJson } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import {
  listingRows,
  type Mounter,
  readingRows,
  recordfsMount,
} from "./archive_mounts.ts";

const OURS = here("./open_zip.ts");

/** Lists all members in Python. */
const SCRIPT = `
import json, sys, time, zipfile
start = time.perf_counter()
with zipfile.ZipFile(sys.argv[1]) as zip:
    members = len(zip.infolist())
print(json.dumps({"ms": 1000 * (time.perf_counter() - start), "members": members}))
`;

/** Writes a zip of members that compress to about half; small ones in directories of 1000. */
const WRITE = `
import json, random, sys, zipfile
path, members, size, method = sys.argv[1], *map(int, sys.argv[2:5])
random.seed(1)
words = random.randbytes(1 << 20).hex().encode()
with zipfile.ZipFile(path, "w", method, compresslevel=6) as zip:
    for i in range(members):
        at = random.randrange(len(words) - size)
        info = zipfile.ZipInfo((f"{i // 1000:04d}/" if size < 1000 else "") + f"{i:07d}.txt")
        info.external_attr = 0o100644 << 16 # fuse-zip shows no others
        zip.writestr(info, words[at:at + size], method)
print(json.dumps({"ms": 0, "members": members}))
`;
import { PYTHON } from "../../test/support/programs/programs.ts";

/** Promised speed relative to the other programs. */
const TARGET = 2;
const [STORED, DEFLATED] = [0, 8];
const SMALL = 20;

/** Reader threads, like a loader's. */
const LOADERS = 4;

/** `zip`: opening, listing, and reading through a mount. */
export const zipBenchmark: Benchmark = { name: "zip", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    members: 300_000,
    files: 5_000,
    size: 100_000,
    rounds: 3,
  });
  const { members, files, size, rounds } = numbers;
  const bytes = Math.max(200 * members, 2 * files * (size + 1024));
  await using workspace = await Workspace.create(dir, bytes);
  const many = workspace.file("members.zip");
  progress(`zip: writing ${members} members`);
  await write(many, members, SMALL, STORED);
  const rows = await measureOpening(many, members, rounds);
  const listed = { what: "zip", mounters: mounters(workspace, many), rounds };
  rows.push(...await listingRows(workspace, listed, members));
  for (const method of [DEFLATED, STORED]) {
    const path = workspace.file(`files${method}.zip`);
    progress(`zip: writing ${files} files`);
    await write(path, files, size, method);
    for (const readers of [1, LOADERS]) {
      rows.push(
        ...await readingRows(
          workspace,
          {
            what: method === STORED ? "zip, stored" : "zip, deflated",
            mounters: mounters(workspace, path),
            rounds,
          },
          { count: files, size },
          readers,
        ),
      );
    }
  }
  return rows;
}

interface Opened {
  readonly ms: number;
  readonly members: number;
}

async function write(
  path: string,
  members: number,
  size: number,
  method: number,
): Promise<void> {
  const numbers = [members, size, method].map(String);
  await runJson<Opened>([PYTHON, "-c", WRITE, path, ...numbers]);
}

async function measureOpening(
  path: string,
  members: number,
  rounds: number,
): Promise<Row[]> {
  const contenders = [
    {
      name: "open",
      command: [Deno.execPath(), "run", "-A", OURS, path],
    },
    {
      name: "Python, zipfile.ZipFile",
      command: [PYTHON, "-c", SCRIPT, path],
      target: TARGET,
    },
  ];
  const taken = await alternate(contenders, rounds, async (one) => {
    progress(`zip: ${one.name}`);
    const opened = await runJson<Opened>(one.command);
    if (opened.members === members) return 1000 * members / opened.ms;
    throw new Error(`${one.name} found ${opened.members} of ${members}`);
  });
  const measured = `zip, opening ${members} members`;
  return rowsBesideFirst(measured, "members/s", contenders, taken);
}

/** Returns programs that mount a zip, recordfs first. */
function mounters(workspace: Workspace, path: string): Mounter[] {
  return [recordfsMount(workspace, path), {
    name: "fuse-zip",
    command: ["fuse-zip", "-r", "-f", path],
    target: TARGET,
  }];
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) await runAlone(zipBenchmark);
