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

/** What is found of a mount by asking it. `dead`: it has no server. `hung`: that does not answer. */
export type Answer = "ok" | "dead" | "hung";

/** A mount answers within this time, or counts as hung. */
const ANSWER_MS = 3000;

/** Asks the server of a mount whether it is there. */
export function askMount(mountpoint: string): Promise<Answer> {
  const answer = isStale(mountpoint).then((stale): Answer =>
    stale ? "dead" : "ok"
  );
  return within(ANSWER_MS, answer, "hung");
}

/** Turns of the event loop that the time has to pass in. */
const TURNS = 10;

/**
 * What a promise gives, or something else where that takes too long. Time in which this process was kept from
 * running, by its own work or a busy machine, does not count: an answer may have come meanwhile.
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

/** The mount of recordfs that a path leads to, if it is dead: nobody can use it any more, or bring it back. */
export async function findDead(
  mountpoint: string,
): Promise<MountAt | undefined> {
  const found = mountAt(mountpoint);
  if (found === undefined) return undefined;
  const { entry, records } = found;
  if (entry.type !== RECORDFS_TYPE && records.length === 0) return undefined;
  return await askMount(mountpoint) === "dead" ? found : undefined;
}

/** Removes a dead mount, if it is what its mount point still leads to, and the records of it. */
export async function removeDead(
  { entry, records }: MountAt,
): Promise<void> {
  const { source, mountpoint, device } = entry;
  // Somebody else may have removed it meanwhile, and mounted again.
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
 * Looks whether a mount point can be mounted on, as far as that depends on what is mounted there.
 *
 * @returns What removes a dead mount of recordfs, for when another one is ready to take its place: until
 * then nobody is to find an empty directory. `undefined` where there is none.
 * @throws {MountError} If there is a mount that nobody may remove.
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
    // There may be another one below.
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
    `Cannot mount on ${mountpoint}: what is mounted there ${reason}; remove ` +
      `it with \`recordfs unmount ${answer === "dead" ? "" : "--lazy "}` +
      `${mountpoint}\``,
    { path: mountpoint },
  );
}
