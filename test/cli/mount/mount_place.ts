/** A mount point for tests, with a state directory of its own. */
import { withTempDir } from "../../support/paths.ts";
import { type Ran, recordfs, run } from "../run_cli.ts";
import { withOwnRun } from "./own_run.ts";

/** Paths and functions for mounting in a test. */
export interface MountPlace {
  readonly dir: string;
  readonly mountpoint: string;
  /** Directory of records and logs. */
  readonly state: string;
  readonly env: Record<string, string>;
  recordfs(...args: string[]): Promise<Ran>;
  /** Returns the mount point's entry in `mounts --json`. */
  listed(): Promise<Record<string, unknown> | undefined>;
}

/**
 * Runs `body` with a mount point, which is unmounted afterwards.
 *
 * @param runtime Parent of the state directory, which takes the place of `/run` for root and of `XDG_RUNTIME_DIR` for
 * others; by default a new directory.
 */
export async function withMountPlace(
  body: (place: MountPlace) => Promise<void>,
  runtime?: string,
): Promise<void> {
  await withTempDir(async (dir) => {
    const mountpoint = `${dir}/mnt`;
    await Deno.mkdir(mountpoint);
    const run = runtime ?? `${dir}/run`;
    if (runtime === undefined) {
      await Deno.mkdir(run);
      await Deno.chmod(run, 0o700);
    }
    const inPlace = (env: Record<string, string>) =>
      bodyIn({ dir, mountpoint, env, state: `${run}/recordfs` }, body);
    await (Deno.uid() === 0
      ? withOwnRun(dir, run, inPlace)
      : inPlace({ XDG_RUNTIME_DIR: run }));
  });
}

async function bodyIn(
  place: Pick<MountPlace, "dir" | "mountpoint" | "state" | "env">,
  body: (place: MountPlace) => Promise<void>,
): Promise<void> {
  const { mountpoint, env } = place;
  const call = (...args: string[]) => recordfs(args, { env });
  try {
    await body({
      ...place,
      recordfs: call,
      async listed() {
        const { stdout } = await call("mounts", "--json");
        const list = JSON.parse(stdout) as Record<string, unknown>[];
        const found = list.find((mount) => mount.mountpoint === mountpoint);
        return found && withLogHere(place.state, found);
      },
    });
  } finally {
    // Unmounts even after a failed test.
    while (await isMounted(mountpoint)) {
      await run(["umount", "--lazy", mountpoint]);
    }
  }
}

/** Returns facts of a mount, with a log path that the test can open: the mount's processes may see another `/run`. */
export function withLogHere<Facts extends { readonly log?: unknown }>(
  state: string,
  facts: Facts,
): Facts {
  const { log } = facts;
  if (typeof log !== "string") return facts;
  return { ...facts, log: `${state}/${log.split("/").at(-1)}` };
}

/** Whether something is mounted at a path. */
export async function isMounted(path: string): Promise<boolean> {
  const mounts = await Deno.readTextFile("/proc/self/mounts");
  return mounts.split("\n").some((line) => line.split(" ")[1] === path);
}

/** Returns the lines of `recordfs mounts` about a mount point. Dead mounts of other tests may be listed as well. */
export function linesAbout(mountpoint: string, lines: string): string[] {
  return lines.split("\n").filter((line) => line.includes(mountpoint));
}

/** Waits for a condition, with a timeout long enough for a busy machine. */
export async function until(
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + 180_000;
  while (!await condition()) {
    if (performance.now() > deadline) throw new Error(`never: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns the child processes that a process has not reaped yet. */
export async function childrenOf(pid: number): Promise<number[]> {
  const path = `/proc/${pid}/task/${pid}/children`;
  const children = await Deno.readTextFile(path).catch(() => ""); // the process has ended
  return children.trim().split(" ").filter(Boolean).map(Number);
}

/** Whether a process is running. */
export async function isRunning(pid: unknown): Promise<boolean> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** Lists a directory. */
export async function namesIn(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory)))
    .map(({ name }) => name);
}
