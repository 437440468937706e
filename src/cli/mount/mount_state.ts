import { MountError } from "../../../fuse/mounting/mount_error.ts";
import {
  findMount,
  isStale,
  readMounts,
  RECORDFS_TYPE,
} from "../../../fuse/mounting/mountinfo.ts";
import { unmount } from "../../../fuse/mounting/unmount.ts";
import { warn } from "../messages.ts";
import {
  keeperOf,
  type MountAt,
  mountAt,
  removeRecord,
} from "./mount_records.ts";

/** Result of a request to a mount. `dead`: it has no server. `hung`: its server does not answer. */
export type MountHealth = "ok" | "dead" | "hung";

/** Time after which a mount without an answer counts as hung, in milliseconds. */
const ANSWER_MS = 3000;

export function askMount(mountpoint: string): Promise<MountHealth> {
  const answer = isStale(mountpoint).then((stale): MountHealth =>
    stale ? "dead" : "ok"
  );
  return within(ANSWER_MS, answer, "hung");
}

/** Number of turns of the event loop that a timeout is divided into. */
const TURNS = 10;

/**
 * Resolves like a promise, or to `otherwise` after a timeout. Time in which this process could not run, because of
 * its own work or a busy machine, does not count: the result may have arrived meanwhile.
 */
export async function within<T>(
  milliseconds: number,
  promise: Promise<T>,
  otherwise: T,
): Promise<T> {
  const late = Promise.withResolvers<T>();
  let turns = 0;
  const timer = setInterval(() => {
    if (++turns === TURNS) late.resolve(otherwise);
  }, milliseconds / TURNS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
  }
}

/** Returns the recordfs mount that a path leads to, if it is dead and cannot be revived. */
export async function findDead(
  mountpoint: string,
): Promise<MountAt | undefined> {
  const found = mountAt(mountpoint);
  if (found === undefined) return undefined;
  const { entry, records } = found;
  if (entry.type !== RECORDFS_TYPE && records.length === 0) return undefined;
  return await askMount(mountpoint) === "dead" ? found : undefined;
}

/** Removes a dead mount and its records, unless its mount point leads to another mount by now. */
export async function removeDead(
  { entry, records }: MountAt,
): Promise<void> {
  const { source, mountpoint, device } = entry;
  // Somebody else may have removed it and mounted again.
  if (findMount(readMounts(), mountpoint)?.device !== device) return;
  await unmount(mountpoint, true);
  warn(
    `${source} on ${mountpoint} had lost its server; that mount was removed`,
  );
  for (const { files, record } of records) {
    if (keeperOf(record) === undefined) removeRecord(files);
  }
}

/**
 * Checks whether what is mounted at a mount point allows mounting there. Returns a function that removes dead recordfs
 * mounts, if any. Call it once their replacement is ready, so that nobody finds an empty directory. Throws if there is
 * a broken mount that must not be removed.
 */
export async function vacancy(
  mountpoint: string,
): Promise<(() => Promise<void>) | undefined> {
  const answer = await askMount(mountpoint);
  if (answer === "ok") return undefined;
  if (answer === "hung" || await findDead(mountpoint) === undefined) {
    throw refusal(mountpoint, answer);
  }
  return async () => {
    let found: MountAt | undefined;
    // There may be another dead mount below.
    while ((found = await findDead(mountpoint)) !== undefined) {
      await removeDead(found);
    }
    const below = await askMount(mountpoint);
    if (below !== "ok") throw refusal(mountpoint, below);
  };
}

function refusal(mountpoint: string, answer: "dead" | "hung"): MountError {
  const reason = answer === "dead"
    ? 'lost its server ("Transport endpoint is not connected")'
    : "does not answer";
  return new MountError(
    "stale",
    `Cannot mount on ${mountpoint}: what is mounted there ${reason}. Remove ` +
      `it with \`recordfs unmount ${answer === "dead" ? "" : "--lazy "}` +
      `${mountpoint}\``,
    { path: mountpoint },
  );
}
