import { Command } from "commander";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { readMounts } from "../../../fuse/mounting/mountinfo.ts";
import { mountpointOf, unmountPath } from "../../../fuse/mounting/unmount.ts";
import { RecordfsError } from "../../base/errors.ts";
import { Exit, ExitCode } from "../exit.ts";
import { absolutePath } from "../input/given.ts";
import { report } from "../messages.ts";
import {
  keeperOf,
  mountAt,
  type RecordedMount,
  removeRecord,
} from "../mount/mount_records.ts";
import {
  isRunning,
  sendSignal,
  usersOf,
  waitForEnd,
} from "../mount/processes.ts";
import { flagMessageOf } from "../flag_words.ts";

interface UnmountCommandOptions {
  readonly lazy?: true;
}

/**
 * How long a mount may be in use without an identifiable user, in milliseconds: by a process that is ending, or one
 * that inspects mounts, as `recordfs mounts` does.
 */
const MOMENT_MS = 10_000;

/** How long the serving process may take to end after unmounting, in milliseconds. */
const PATIENCE_MS = 60_000;

export function makeCommand(): Command {
  return new Command("unmount")
    .argument("<mountpoint...>", "the directories to unmount")
    .option(
      "-l, --lazy",
      "unmount even if in use: detach now, end with the last user",
    )
    .action(unmount);
}

async function unmount(
  mountpoints: readonly string[],
  { lazy }: UnmountCommandOptions,
): Promise<void> {
  let failed = false;
  const paths = mountpoints.map(absolutePath);
  // The working directory of this process would keep a mount in use.
  Deno.chdir("/");
  for (const path of paths) {
    try {
      await unmountOne(path, lazy === true);
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      report(flagMessageOf(error));
      failed = true;
    }
  }
  if (failed) throw new Exit(ExitCode.FAILED);
}

async function unmountOne(path: string, lazy: boolean): Promise<void> {
  const mountpoint = await mountpointOf(path);
  const known = mountAt(mountpoint);
  const deadline = performance.now() + MOMENT_MS;
  for (let isFirst = true;; isFirst = false) {
    try {
      await unmountPath(path, { lazy });
      break;
    } catch (error) {
      if (!(error instanceof MountError) || error.code !== "busy") throw error;
      const isLast = performance.now() > deadline;
      // Finding the users scans all processes.
      const named = isFirst || isLast ? whoIsThere(mountpoint, error) : error;
      if (named !== error) throw named;
      if (await endUnserved(mountpoint)) break;
      if (isLast) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  // A mount that remains was bind-mounted from it, or it was itself a bind mount.
  const device = known?.entry.device;
  if (readMounts().some((entry) => entry.device === device)) return;
  for (const mount of known?.records ?? []) await expectEnd(mount, path, lazy);
}

/**
 * Ends a mount that currently has no server, and is mounted nowhere else. An unidentified user of it, such as a `df`,
 * waits for the server, and might wait as long as servers are tried.
 *
 * @returns Whether it was such a mount, and has ended.
 */
async function endUnserved(mountpoint: string): Promise<boolean> {
  const known = mountAt(mountpoint); // again: a server may have started meanwhile
  const device = known?.entry.device;
  const supervisor = known?.records.filter(({ record }) => !isRunning(record))
    .map(({ record }) => keeperOf(record)).find((keeper) => keeper);
  const places = readMounts().filter((entry) => entry.device === device);
  if (supervisor === undefined || places.length > 1) return false;
  sendSignal(supervisor, "SIGTERM");
  return await waitForEnd(supervisor, PATIENCE_MS);
}

async function expectEnd(
  { files, record }: RecordedMount,
  path: string,
  lazy: boolean,
): Promise<void> {
  const keeper = keeperOf(record);
  if (keeper === undefined) return removeRecord(files); // it was dead
  if (lazy) return; // it lives until its last user is gone
  // A supervisor without a server would notice only with the next one.
  if (!isRunning(record)) sendSignal(keeper, "SIGTERM");
  if (await waitForEnd(keeper, PATIENCE_MS)) return;
  throw new MountError(
    "server",
    `${path} is unmounted, but process ${keeper.pid}, its server, has ` +
      `not ended after ${PATIENCE_MS / 1000} seconds; it may be mounted in ` +
      `another mount namespace as well, such as a container's`,
    { path },
  );
}

function whoIsThere(
  mountpoint: string,
  cause: MountError,
): MountError {
  const users = [
    ...usersOf(mountpoint).map(({ pid, command }) => `${pid} (${command})`),
    ...readMounts()
      .filter((mount) => mount.mountpoint.startsWith(`${mountpoint}/`))
      .map((mount) => `the mount on ${mount.mountpoint}`),
  ];
  if (users.length === 0) return cause;
  return new MountError(
    "busy",
    `Cannot unmount ${mountpoint}: it is in use by ${users.join(", ")}. End ` +
      `these first, or unmount with --lazy`,
    { path: mountpoint, cause },
  );
}
