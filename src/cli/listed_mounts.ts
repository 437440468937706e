import {
  type MountEntry,
  readMounts,
  RECORDFS_TYPE,
} from "../../fuse/mountinfo.ts";
import type { ServedCounts } from "../../fuse/request_counts.ts";
import { RecordfsError } from "../errors.ts";
import { warn } from "./messages.ts";
import {
  isOf,
  keeperOf,
  type RecordedMount,
  recordedMounts,
  statsOf,
} from "./mount_records.ts";
import { detachStale, type MountState, mountState } from "./mount_state.ts";
import { readCounts } from "./mount_stats.ts";
import { age, isRunning } from "./processes.ts";

/** A mount as `recordfs mounts --json` prints it; `null` is what this user's records do not tell. */
export interface ListedMount {
  readonly source: string;
  readonly mountpoint: string;
  /** The process that serves it. */
  readonly pid: number | null;
  /** The process that starts another one when that dies; `null` also where there is none. */
  readonly supervisor: number | null;
  /** `removed`: it was stale until now. */
  readonly state: MountState | "removed";
  readonly started: string | null;
  /** Seconds since then, however the clock was set meanwhile. */
  readonly uptime: number | null;
  /** How often another process took over from one that died. */
  readonly restarts: number | null;
  /** Requests of the kernel by kind, a second ago; with those that earlier processes answered. */
  readonly requests: ServedCounts["requests"] | null;
  /** Bytes of the replies. */
  readonly bytes: number | null;
  /** Requests that ended with EIO. */
  readonly errors: number | null;
  readonly log: string | null;
  readonly version: string | null;
}

/** One that was found. */
interface FoundMount {
  readonly entry: MountEntry;
  readonly listed: ListedMount;
  /** Whether this user made it, and all of its processes have ended. */
  readonly isOrphaned: boolean;
}

/**
 * Finds what is mounted. The mounts of this user that nobody can use any more, or bring back, are removed;
 * they are listed this once.
 */
export async function listMounts(): Promise<ListedMount[]> {
  const known = recordedMounts();
  const looked = await Promise.all(
    readMounts().map((entry) => look(entry, known)),
  );
  const list: ListedMount[] = [];
  const uncovered = new Set<string>();
  // The upper one of two on the same directory hides the lower one.
  for (const found of looked.toReversed()) {
    if (found === undefined) continue;
    let { listed } = found;
    const { mountpoint } = listed;
    if (uncovered.has(mountpoint)) {
      listed = { ...listed, state: await mountState(mountpoint) };
    }
    if (listed.state === "stale" && found.isOrphaned && await remove(found)) {
      listed = { ...listed, state: "removed" };
      uncovered.add(mountpoint);
    }
    list.unshift(listed);
  }
  return list;
}

/** Looks at something mounted; `undefined` if it is none of recordfs. */
async function look(
  entry: MountEntry,
  known: readonly RecordedMount[],
): Promise<FoundMount | undefined> {
  const { source, mountpoint, type } = entry;
  const records = known.filter(({ record }) => isOf(record, entry));
  // With -o subtype= it has another type.
  if (type !== RECORDFS_TYPE && records.length === 0) return undefined;
  const kept = records.find(({ record }) => keeperOf(record) !== undefined);
  const state = await mountState(mountpoint);
  return {
    entry,
    isOrphaned: kept === undefined && records.length > 0,
    listed: { ...UNKNOWN, source, mountpoint, state, ...describe(kept) },
  };
}

/** Removes a stale mount; where that is refused, says so. */
async function remove({ entry }: FoundMount): Promise<boolean> {
  try {
    return await detachStale(entry);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    warn(error.message);
    return false;
  }
}

/** What there is to say of a mount without a record. */
const UNKNOWN = {
  pid: null,
  supervisor: null,
  started: null,
  uptime: null,
  restarts: null,
  requests: null,
  bytes: null,
  errors: null,
  log: null,
  version: null,
} as const;

function describe(mount: RecordedMount | undefined): Partial<ListedMount> {
  if (mount === undefined) return {};
  const { record, path } = mount;
  const { source, pid, started, log, version, supervised } = record;
  const uptime = age(supervised?.supervisor ?? record);
  const known = { source, pid, started, uptime, log, version };
  if (!supervised) return known; // one in the foreground, or of an earlier version
  const { supervisor, restarts } = supervised;
  return {
    ...known,
    supervisor: isRunning(supervisor) ? supervisor.pid : null,
    restarts,
    ...readCounts(statsOf(path)),
  };
}
