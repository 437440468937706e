import { statfs } from "node:fs/promises";
import { MountError } from "../../fuse/mount_error.ts";
import { isNotConnected } from "../../fuse/mountinfo.ts";

/** `stale`: the mount's server is gone. `hung`: it does not answer. */
export type MountState = "ok" | "stale" | "hung";

/** A mount answers within this time, or counts as hung. */
const ANSWER_MS = 3000;

/**
 * Asks the server of a mount whether it is there.
 *
 * By statfs(2), which the kernel never answers from its caches: it keeps showing what it has seen of
 * a mount that lost its server.
 */
export async function mountState(mountpoint: string): Promise<MountState> {
  const { promise, resolve } = Promise.withResolvers<MountState>();
  const timer = setTimeout(() => resolve("hung"), ANSWER_MS);
  const answer = statfs(mountpoint).then(
    () => "ok" as const,
    (error) => isNotConnected(error) ? "stale" as const : "ok" as const,
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
