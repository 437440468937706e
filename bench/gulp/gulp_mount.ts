/**
 * Reads all frames of a video in sequence through fresh mounts: a GulpIO directory, compared with an FFRecord folder
 * of the same files.
 *
 *   deno run -A bench/gulp/gulp_mount.ts [--frames N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { buildPrograms } from "../mount/build.ts";
import { makeGulpFolderSync } from "./gulp_directory.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { makePackedDirectorySync } from "../support/packed_directory.ts";
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

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** Share of the FFRecord mount's rate that recordfs promises. */
const TARGET = 0.9;

/** `gulp_mount`: frames a second through a mount. */
export const gulpMountBenchmark: Benchmark = { name: "gulp_mount", run };

interface Contender {
  readonly name: string;
  /** Container to mount. */
  readonly source: string;
  /** File that contains the frames. */
  readonly data: string;
  /** Directory of the frames in the mount. */
  readonly directory: string;
}

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(
    args,
    { frames: 20_000, size: 25_000, rounds: 9 },
  );
  const { frames, size, rounds } = numbers;
  const bytes = frames * size;
  await using workspace = await Workspace.create(dir, 2 * bytes);
  const { reader } = await buildPrograms(workspace.path);
  progress(`gulp_mount: writing ${frames} frames twice`);
  const gulp = makeGulpFolderSync(workspace.file("gulp"), {
    chunks: 1,
    videos: 1,
    frames,
    size,
  });
  const { archive } = makePackedDirectorySync(
    workspace.file("a.ffr"),
    frames,
    size,
  );
  const contenders: Contender[] = [
    {
      name: "recordfs, GulpIO",
      source: gulp.path,
      data: `${gulp.path}/data_0.gulp`,
      directory: `/${gulp.ids[0]}`,
    },
    {
      name: "recordfs, FFRecord",
      source: archive,
      data: archive,
      directory: "",
    },
  ];
  const mountpoint = workspace.file("mnt");
  await Deno.mkdir(mountpoint);
  let mounted: MountedServer | undefined;
  workspace.defer(async () => await mounted?.stop());
  const touch = `${Math.ceil(1.25 * bytes / 2 ** 20)}`;

  const rates = await alternate(
    contenders,
    rounds,
    async (contender, round) => {
      const { name, source, data, directory } = contender;
      progress(`gulp_mount: round ${round + 1} of ${rounds}, ${name}`);
      await bringIntoMemory(data);
      mounted = await MountedServer.start(
        [Deno.execPath(), "run", "-A", CLI, "mount", "-f", source, mountpoint],
        mountpoint,
      );
      const { passes: [pass] } = await runJson<{
        passes: { bytes: number; filesPerSecond: number }[];
      }>([reader, "--in-order", "--touch", touch, mountpoint + directory]);
      await mounted.stop();
      if (pass!.bytes >= bytes) return pass!.filesPerSecond; // includes meta.json
      throw new Error(`${name}: ${pass!.bytes} of ${bytes} bytes were read`);
    },
  );

  const values = rates.map(median);
  const ratio = values[0]! / values[1]!;
  return contenders.map(({ name }, i) => ({
    measured: `gulp_mount, in order: ${frames} × ${size} bytes`,
    subject: name,
    value: values[i]!,
    unit: "files/s",
    rounds: rates[i]!,
    ...(i === 0
      ? {}
      : { ratio, target: { promise: `≥ ${TARGET}×`, met: ratio >= TARGET } }),
  }));
}

/** Reads a file into the page cache, so that the figures do not depend on the disk. */
async function bringIntoMemory(path: string): Promise<void> {
  using file = await Deno.open(path);
  const buffer = new Uint8Array(1 << 20);
  while (await file.read(buffer) !== null) { /* on to the next piece */ }
}

if (import.meta.main) await runAlone(gulpMountBenchmark);
