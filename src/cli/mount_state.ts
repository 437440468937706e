import { MountError } from "../../fuse/mount_error.ts";
import { isStale } from "../../fuse/mountinfo.ts";

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
 * Makes sure that a mount point is not that of a mount without a server.
 *
 * @throws {MountError} If it is.
 */
export async function refuseStale(mountpoint: string): Promise<void> {
  const state = await mountState(mountpoint);
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
