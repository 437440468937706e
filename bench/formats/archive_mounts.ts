/**
 * Mounts of archives by several programs: until all names are there, and all files in random order.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { buildPrograms } from "../mount/build.ts";
import { readPasses } from "../mount/reader.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import type { Workspace } from "../support/workspace.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** A program that mounts. */
export interface Mounter {
  readonly name: string;
  /** What starts it; the mountpoint comes behind. */
  readonly command: readonly string[];
  /** How often as fast as this one ours shall be. */
  readonly target?: number;
}

/** Ours. */
export function recordfsMount(source: string): Mounter {
  return {
    name: "recordfs mount",
    command: [Deno.execPath(), "run", "-A", CLI, "mount", "-f", source],
  };
}

/** What a mount is measured by. */
export interface MountRun {
  /** What is mounted, as in `zip` or `zip, stored`. */
  readonly what: string;
  /** Ours first. */
  readonly mounters: readonly Mounter[];
  readonly rounds: number;
}

/** What `find` prints of each file: its name, which is in the directory; or its size, which most who list ask for. */
const LISTINGS = [
  ["its names", "%f\\n"],
  ["its names and sizes", "%f %s\\n"],
] as const;

/**
 * From the start of the program until all names are there, and until all sizes are.
 *
 * @param members How many there are.
 */
export async function listingRows(
  workspace: Workspace,
  { what, mounters, rounds }: MountRun,
  members: number,
): Promise<Row[]> {
  const mounts = await Mounts.in(workspace);
  const rows: Row[] = [];
  for (const [listed, format] of LISTINGS) {
    const find = `find "$1" -type f -printf '${format}' | wc -l`;
    const rates = await alternate([...mounters], rounds, async (one) => {
      progress(`${what}: listing ${listed}, ${one.name}`);
      const start = performance.now();
      const mounted = await mounts.start(one);
      const { stdout } = await new Deno.Command("sh", {
        args: ["-c", find, "sh", mounts.mountpoint],
      }).output();
      const ms = performance.now() - start;
      await mounted.stop();
      const found = Number(new TextDecoder().decode(stdout));
      if (found === members) return 1000 * members / ms;
      throw new Error(`${one.name} lists ${found} of ${members}`);
    });
    const measured =
      `${what}, mounted and ${listed} listed: ${members} members`;
    rows.push(...rowsBesideFirst(measured, "members/s", mounters, rates));
  }
  return rows;
}

/**
 * All files in random order, the first time after mounting.
 *
 * @param files How many there are, of how many bytes each.
 * @param readers Threads that read, each some of them.
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
  // As much memory as the page cache will take: a virtual machine has to fetch what was never used.
  const touch = `${Math.ceil(1.25 * count * size / 2 ** 20)}`;
  const rates = await alternate([...mounters], rounds, async (one) => {
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

/** Mounts at one place, one after the other. */
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

  async start({ command }: Mounter): Promise<MountedServer> {
    this.#mounted = await MountedServer.start(
      [...command, this.mountpoint],
      this.mountpoint,
    );
    return this.#mounted;
  }
}
