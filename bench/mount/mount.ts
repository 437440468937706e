/**
 * Reads every file of a fresh mount in random order: recordfs compared with C servers on libfuse 3.
 *
 *   deno run -A bench/mount/mount.ts [--files N] [--size BYTES] [--rounds N] [--readers N]
 *     [--one-cpu] [--dir FOLDER] [--json]
 *
 * Needs 2 GB of disk and 7 GB of memory. `--one-cpu` keeps servers and readers on one CPU, to measure the cost of
 * serving a file without the cost of waking another CPU.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { buildPrograms, type Programs } from "./build.ts";
import { compareFiles } from "./compare_files.ts";
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
import { memoryToTouch, readPasses } from "./reader.ts";
import { alternate, median } from "../support/rounds.ts";
import { Workspace } from "../support/workspace.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** Share of the C server's rate that recordfs promises for one reader. */
const TARGET = 0.9;

interface Contender {
  readonly name: string;
  /** Whether the promised ratio refers to this contender. */
  readonly promised: boolean;
  command(packed: PackedDirectory, mountpoint: string): string[];
}

interface Round {
  readonly cold: number;
  readonly warm: number;
  readonly bare: number;
}

/** `mount`: cold and warm rates of a mount, and of reading the archive directly. */
export const mountBenchmark: Benchmark = { name: "mount", run };

async function run(args: string[]): Promise<Row[]> {
  const { numbers, flags, dir } = parseOptions(
    args,
    { files: 20_000, size: 100_000, rounds: 7, readers: 1 },
    ["one-cpu"],
  );
  const { files, size, rounds, readers } = numbers;
  await using workspace = await Workspace.create(dir, files * (size + 64));
  const programs = await buildPrograms(workspace.path);
  progress(`mount: packing ${files} files of ${size} bytes`);
  const packed = makePackedDirectorySync(workspace.file("a.ffr"), files, size);

  const oneCpu = flags.has("one-cpu");
  const touch = await memoryToTouch(files * size, () =>
    progress(
      `mount: memory is too small to keep ${
        files * size
      } bytes cached twice, by the ` +
        "archive and by the mount: the figures show the disk as well. Use fewer --files.",
    ));
  const pin = oneCpu ? ["taskset", "-c", "0"] : [];
  const reader = [...pin, programs.reader, "--readers", `${readers}`];
  if (touch > 0) reader.push("--touch", `${touch}`);
  const contenders = makeContenders(programs, readers, oneCpu);

  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);

  const measure = async (contender: Contender, round: number) => {
    progress(`mount: round ${round + 1} of ${rounds}, ${contender.name}`);
    // Also brings the archive into the page cache before each mount, since the kernel may have evicted it.
    const bare = await readAll(packed, [
      ...[...reader, "--passes", "2", "--bare"],
      ...[packed.archive, packed.index],
    ]);
    const command = contender.command(packed, mountpoint);
    mounted = await MountedServer.start([...pin, ...command], mountpoint);
    const [cold, warm] = await readAll(
      packed,
      [...reader, "--passes", "2", mountpoint],
    );
    if (round === 0) await compareFiles(packed, mountpoint);
    await mounted.stop();
    return { cold: cold!, warm: warm!, bare: bare[1]! };
  };
  const measured = await alternate(contenders, rounds, measure);
  const title = `${files} × ${size} bytes, ${readers} reader` +
    `${readers > 1 ? "s" : ""}${oneCpu ? ", one CPU" : ""}`;
  return makeRows(title, contenders, measured);
}

/**
 * Returns recordfs, the C server that the promise refers to with its best number of threads, the C server with its
 * fastest way of reading, and its plain loop. `tuning.md` has the measurements.
 */
function makeContenders(
  programs: Programs,
  readers: number,
  oneCpu: boolean,
): Contender[] {
  const reference = (way: string, threads: number, promised = false) => ({
    name: `C libfuse, ${way}, ${threads} thread${threads > 1 ? "s" : ""}`,
    promised,
    command: ({ archive, index }: PackedDirectory, mountpoint: string) => [
      ...[programs.server, "--read", way, "--threads", `${threads}`],
      ...[archive, index, mountpoint],
    ],
  });
  const ours = (name: string, ...options: string[]): Contender => ({
    name,
    promised: false,
    command: ({ archive }, mountpoint) => [
      ...[Deno.execPath(), "run", "-A", CLI],
      ...["mount", "-f", ...options, archive, mountpoint],
    ],
  });
  const bare = ours("recordfs --no-verify", "--no-verify"); // the others verify no checksums
  const verifying = ours("recordfs");
  if (oneCpu) {
    return [
      bare,
      verifying,
      reference("splice", 1),
      reference("mmap-populated", 1),
    ];
  }
  return [
    bare,
    verifying,
    reference("splice", readers === 1 ? 3 : 2 * readers, readers === 1),
    reference("mmap-populated", readers === 1 ? 3 : readers),
    reference("splice", 1),
  ];
}

async function readAll(
  packed: PackedDirectory,
  command: string[],
): Promise<number[]> {
  const bytes = packed.names.length * packed.size;
  const passes = await readPasses(command, bytes);
  return passes.map(({ filesPerSecond }) => filesPerSecond);
}

function makeRows(
  title: string,
  contenders: readonly Contender[],
  measured: readonly Round[][],
): Row[] {
  const rows: Row[] = [];
  const unit = "files/s";
  for (const pass of ["cold", "warm"] as const) {
    const rates = measured.map((rounds) => rounds.map((round) => round[pass]));
    const ours = median(rates[0]!);
    for (const [i, { name, promised }] of contenders.entries()) {
      const value = median(rates[i]!);
      const ratio = ours / value;
      rows.push({
        measured: `mount, ${pass}: ${title}`,
        subject: name,
        value,
        unit,
        rounds: rates[i]!,
        ...(i > 0 ? { ratio } : {}),
        ...(promised && pass === "cold"
          ? { target: { promise: `≥ ${TARGET}×`, met: ratio >= TARGET } }
          : {}),
      });
    }
  }
  const bare = measured.flat().map((round) => round.bare);
  rows.push({
    measured: `mount, no mount: ${title}`,
    subject: "pread of the bare archive",
    value: median(bare),
    unit,
    rounds: bare,
    ratio: median(measured[0]!.map(({ cold }) => cold)) / median(bare),
  });
  return rows;
}

if (import.meta.main) await runAlone(mountBenchmark);
