/**
 * Mounts archives by several programs: measures the first listing, listing all names, and reading all files in random
 * order.
 *
 * @module
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { succeeds, VENV } from "../../test/support/programs/programs.ts";
import { buildPrograms } from "../mount/build.ts";
import { readPasses } from "../mount/reader.ts";
import { type Compared, rowsBesideFirst } from "../support/beside_first.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { progress, type Row } from "../support/report.ts";
import { alternatePresent } from "../support/rounds.ts";
import type { Workspace } from "../support/workspace.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** Installed by `deno task setup`. */
const RATARMOUNT = `${VENV}/bin/ratarmount`;

/** Program that mounts an archive. */
export interface Mounter extends Compared {
  /** Command that starts it; the mountpoint is appended. */
  readonly command: readonly string[];
  /** Removes what the last start left, such as an index. */
  reset?(): void;
}

/** Whether an archive is mounted for the first time, or the program finds the index that it has cached. */
export type Start = "first" | "again";

/** Returns recordfs, with an index cache in the workspace. */
export function recordfsMount(
  workspace: Workspace,
  source: string,
  start: Start = "first",
): Mounter {
  const cache = workspace.file("index-cache");
  const mount = [Deno.execPath(), "run", "-A", CLI, "mount", "-f"];
  const command = [...mount, "--cache-dir", cache, source];
  const reset = () => fs.rmSync(cache, { recursive: true, force: true });
  return { name: "recordfs mount", command, ...start === "first" && { reset } };
}

/** Returns `ratarmount` with its default settings: it writes its index next to the archive. */
export function ratarmount(
  source: string,
  target?: number,
  start: Start = "first",
): Mounter {
  return {
    name: "ratarmount",
    command: [
      ...[RATARMOUNT, "-f"],
      ...(start === "first" ? ["--recreate-index"] : []),
      source,
    ],
    ...(target !== undefined && { target }),
    ...(fs.existsSync(RATARMOUNT)
      ? {}
      : { missing: "not measured: `deno task setup` installs ratarmount" }),
  };
}

/** Returns `archivemount`, which has no index. */
export function archivemount(source: string, target: number): Mounter {
  return {
    name: "archivemount",
    command: ["archivemount", "-f", "-o", "readonly", source],
    target,
    ...(succeeds("sh", "-c", "command -v archivemount") ? {} : {
      missing:
        "not measured: `deno task setup` or `apt-get install archivemount`",
    }),
  };
}

/** Parameters of measuring mounts. */
export interface MountRun {
  /** Label of the archive, such as `zip` or `zip, stored`. */
  readonly what: string;
  /** Programs, recordfs first. */
  readonly mounters: readonly Mounter[];
  readonly rounds: number;
}

/**
 * Measures the seconds from the start of the program until the root is listed, and until all names are.
 *
 * @param members Number of members.
 */
export async function mountingRows(
  workspace: Workspace,
  { what, mounters, rounds }: MountRun,
  members: number,
): Promise<Row[]> {
  const mounts = await Mounts.in(workspace);
  const taken = await alternatePresent(mounters, rounds, async (one) => {
    progress(`${what}: mounting, ${one.name}`);
    const start = performance.now();
    const mounted = await mounts.start(one);
    const { length } = await Array.fromAsync(Deno.readDir(mounts.mountpoint));
    const first = (performance.now() - start) / 1000;
    if (length === 0) throw new Error(`${one.name} lists nothing`);
    await listAll(one, mounts.mountpoint, "%f\\n", members);
    const all = (performance.now() - start) / 1000;
    await mounted.stop();
    return { first, all };
  });
  return ([["first", "the first listing"], ["all", "all names"]] as const)
    .flatMap(([key, until]) =>
      rowsBesideFirst(
        `${what}, from start to ${until}: ${members} members`,
        "s",
        mounters,
        taken.map((rounds) => rounds?.map((times) => times[key])),
        "less",
      )
    );
}

/** Lists all files of a mount by `find`, and throws unless it finds `members` of them. */
async function listAll(
  { name }: Mounter,
  mountpoint: string,
  format: string,
  members: number,
): Promise<void> {
  const find = `find "$1" -type f -printf '${format}' | wc -l`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", find, "sh", mountpoint],
  }).output();
  const found = Number(new TextDecoder().decode(stdout));
  if (found !== members) {
    throw new Error(`${name} lists ${found} of ${members}`);
  }
}

/** Formats of `find`: the name, which the directory has, or also the size, which most listings need. */
const LISTINGS = [
  ["its names", "%f\\n"],
  ["its names and sizes", "%f %s\\n"],
] as const;

/**
 * Measures the time from the start of the program until all names are listed, and until all sizes are.
 *
 * @param members Number of members.
 */
export async function listingRows(
  workspace: Workspace,
  { what, mounters, rounds }: MountRun,
  members: number,
): Promise<Row[]> {
  const mounts = await Mounts.in(workspace);
  const rows: Row[] = [];
  for (const [listed, format] of LISTINGS) {
    const rates = await alternatePresent(mounters, rounds, async (one) => {
      progress(`${what}: listing ${listed}, ${one.name}`);
      const start = performance.now();
      const mounted = await mounts.start(one);
      await listAll(one, mounts.mountpoint, format, members);
      const ms = performance.now() - start;
      await mounted.stop();
      return 1000 * members / ms;
    });
    const measured =
      `${what}, mounted and ${listed} listed: ${members} members`;
    rows.push(...rowsBesideFirst(measured, "members/s", mounters, rates));
  }
  return rows;
}

/**
 * Reads all files in random order, for the first time after mounting.
 *
 * @param files Number of files, and the size of each in bytes.
 * @param readers Number of threads that share the reads.
 */
export async function readingRows(
  workspace: Workspace,
  { what, mounters, rounds }: MountRun,
  files: { readonly count: number; readonly size: number },
  readers = 1,
): Promise<Row[]> {
  const { reader } = await buildPrograms(workspace.path);
  const mounts = await Mounts.in(workspace);
  const { count, size } = files;
  // Touches as much memory as the page cache will need: a virtual machine must first get unused memory from its host.
  const touch = `${Math.ceil(1.25 * count * size / 2 ** 20)}`;
  const rates = await alternatePresent(mounters, rounds, async (one) => {
    progress(`${what}: reading, ${one.name}`);
    const mounted = await mounts.start(one);
    const [pass] = await readPasses(
      [
        ...[reader, "--readers", `${readers}`, "--touch", touch],
        mounts.mountpoint,
      ],
      count * size,
    );
    await mounted.stop();
    return pass!.filesPerSecond;
  });
  const by = readers === 1 ? "" : `${readers} readers, `;
  const measured =
    `${what}, mounted, random order, ${by}first time: ${count} × ${size} bytes`;
  return rowsBesideFirst(measured, "files/s", mounters, rates);
}

/** Mounts at one mountpoint, one after the other. */
class Mounts {
  readonly mountpoint: string;
  #mounted: MountedServer | undefined;

  private constructor(mountpoint: string) {
    this.mountpoint = mountpoint;
  }

  static async in(workspace: Workspace): Promise<Mounts> {
    const mountpoint = await Deno.makeTempDir({
      dir: workspace.path,
      prefix: "mnt-",
    });
    const mounts = new Mounts(mountpoint);
    workspace.defer(async () => await mounts.#mounted?.stop());
    return mounts;
  }

  async start({ command, reset }: Mounter): Promise<MountedServer> {
    reset?.();
    this.#mounted = await MountedServer.start(
      [...command, this.mountpoint],
      this.mountpoint,
    );
    return this.#mounted;
  }
}
