import { MountError } from "../../fuse/mount_error.ts";
import {
  findMount,
  isStale,
  type MountEntry,
  readMounts,
  recordfsMounts,
} from "../../fuse/mountinfo.ts";
import { unmount } from "../../fuse/unmount.ts";
import { warn } from "./messages.ts";
import {
  isOf,
  keeperOf,
  recordedMounts,
  removeRecord,
} from "./mount_records.ts";

/** `stale`: the mount's server is gone. `hung`: it does not answer. */
export type MountState = "ok" | "stale" | "hung";

/** A mount answers within this time, or counts as hung. */
const ANSWER_MS = 3000;

/** Asks the server of a mount whether it is there. */
export async function mountState(mountpoint: string): Promise<MountState> {
  const { promise, resolve } = Promise.withResolvers<MountState>();
  const timer = setTimeout(() => resolve("hung"), ANSWER_MS);
  const answer = isStale(mountpoint).then((stale): MountState =>
    stale ? "stale" : "ok"
  );
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Removes a mount of recordfs that lost its server, if that is what is at a path: nobody can use it
 * any more, or bring it back.
 *
 * @returns Whether there was one.
 */
export async function removeStale(mountpoint: string): Promise<boolean> {
  const entry = findMount(recordfsMounts(), mountpoint);
  if (entry === undefined || await mountState(mountpoint) !== "stale") {
    return false;
  }
  return await detachStale(entry);
}

/**
 * Removes a mount that was found to have lost its server.
 *
 * @returns Whether it is what its mount point still leads to.
 */
export async function detachStale(entry: MountEntry): Promise<boolean> {
  const { source, mountpoint, device } = entry;
  // Somebody else may have removed it meanwhile, and mounted again.
  if (findMount(readMounts(), mountpoint)?.device !== device) return false;
  await unmount(mountpoint, true);
  warn(
    `${source} on ${mountpoint} had lost its server; that mount was removed`,
  );
  for (const { path, record } of recordedMounts()) {
    if (isOf(record, entry) && keeperOf(record) === undefined) {
      removeRecord(path);
    }
  }
  return true;
}

/**
 * Makes sure that a mount point is not that of a mount without a server: one of recordfs is removed.
 *
 * @throws {MountError} If it is.
 */
export async function refuseStale(mountpoint: string): Promise<void> {
  let state = await mountState(mountpoint);
  if (state === "stale" && await removeStale(mountpoint)) {
    state = await mountState(mountpoint); // there may be another one below
  }
  if (state === "ok") return;
  const reason = state === "stale"
    ? 'lost its server ("Transport endpoint is not connected")'
    : "does not answer";
  throw new MountError(
    "stale",
    `Cannot mount on ${mountpoint}: what is mounted there ${reason}; remove ` +
      `it with \`recordfs unmount ${state === "stale" ? "" : "--lazy "}` +
      `${mountpoint}\``,
    { path: mountpoint },
  );
}
