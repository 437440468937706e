import { COUNTS_SIZE } from "../../../fuse/limits.ts";
import {
  findMount,
  type MountEntry,
  readMounts,
  RECORDFS_TYPE,
} from "../../../fuse/mounting/mountinfo.ts";
import {
  type FetchedCounts,
  type ServedCounts,
  sumCounts,
} from "../../../fuse/session/request_counts.ts";
import type { Shuffle } from "../../data/trees/arrange_tree.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import type { PlacedSource } from "../input/given.ts";
import { jobIdentity } from "./container_identity.ts";
import {
  isOf,
  keeperOf,
  type MountRecord,
  reasonOf,
  type RecordedMount,
  recordedMounts,
} from "./mount_records.ts";
import { askMount, type MountHealth, within } from "./mount_state.ts";
import {
  attempt,
  isRunning,
  readDescriptor,
  secondsSince,
} from "./processes.ts";
import { jobOptions } from "./supervisor.ts";

/**
 * State of a mount. `changed`: it answers, but its container or index file is no longer what was mounted.
 * `restarting`: its server died, and readers wait for the next one. `hung`: its server does not answer. `dead`: it
 * lost its server for good, and fails until it is unmounted or mounted again.
 */
type MountState = MountHealth | "changed" | "restarting";

/** Timeout for checking the container of a mount, in milliseconds; its disk may hang. */
const LOOK_MS = 3000;

/** A mount as printed by `recordfs mounts --json`. `null` means that this user's records do not say. */
export interface ListedMount {
  readonly source: string;
  /** The containers, and the directory of each if there are several. */
  readonly sources: readonly PlacedSource[] | null;
  readonly mountpoint: string;
  /** The serving process; `null` also while there is none. */
  readonly pid: number | null;
  /** The process that restarts the server; `null` also without one. */
  readonly supervisor: number | null;
  /** `null` for another user's mount that is hidden by a mount on top. */
  readonly state: MountState | null;
  readonly reason: string | null;
  readonly started: string | null;
  /** Seconds since the start, unaffected by clock changes; `null` also for a dead mount. */
  readonly uptime: number | null;
  /** Number of times that a new server took over from a dead one. */
  readonly restarts: number | null;
  /** Kernel requests by opcode, including those to earlier servers. */
  readonly requests: ServedCounts["requests"] | null;
  readonly bytes: number | null;
  readonly errors: number | null;
  /** Totals of remote fetches; `null` also if all containers are local. */
  readonly fetched: FetchedCounts | null;
  /** Its options, as words of a command line. */
  readonly options: readonly string[] | null;
  /** Path of the index file that selects samples; `null` also without one. */
  readonly subset: string | null;
  /** Links shown next to the samples; `null` also for none. */
  readonly shuffle: Shuffle | null;
  readonly log: string | null;
  readonly version: string | null;
}

export async function listMounts(): Promise<ListedMount[]> {
  const known = recordedMounts();
  const entries = readMounts();
  const looked = await Promise.all(
    entries.map((entry) => look(entry, entries, known)),
  );
  return looked.filter((mount) => mount !== undefined);
}

/** Describes a mount; returns `undefined` if it is not a recordfs mount. */
async function look(
  entry: MountEntry,
  entries: readonly MountEntry[],
  known: readonly RecordedMount[],
): Promise<ListedMount | undefined> {
  const { mountpoint, type } = entry;
  const records = known.filter(({ record }) => isOf(record, entry));
  // A mount with -o subtype= has another type.
  if (type !== RECORDFS_TYPE && records.length === 0) return undefined;
  const mount = records.find(({ record }) => keeperOf(record) !== undefined) ??
    records[0];
  const isOnTop = findMount(entries, mountpoint) === entry;
  const state = await stateOf(mount?.record, mountpoint, isOnTop);
  return describe(entry, mount, state);
}

async function stateOf(
  record: MountRecord | undefined,
  mountpoint: string,
  isOnTop: boolean,
): Promise<MountState | null> {
  // Without a server, a request would wait in vain.
  if (record !== undefined && !isRunning(record)) {
    return keeperOf(record) === undefined ? "dead" : "restarting";
  }
  if (!isOnTop && record === undefined) return null; // a request would reach the upper mount
  const answer = isOnTop ? await askMount(mountpoint) : "ok";
  if (answer !== "ok" || record === undefined) return answer;
  return await hasChanged(record) ? "changed" : "ok";
}

async function hasChanged({ job, container }: MountRecord): Promise<boolean> {
  if (container === null) return false;
  const same = jobIdentity(job).then(
    (now) => now === container,
    (error) => !(error instanceof Deno.errors.NotFound),
  );
  return !await within(LOOK_MS, same, true);
}

/** Removes secrets from the URL. */
function shown(source: PlacedSource): PlacedSource {
  return { ...source, location: shownLocation(source.location) };
}

function describe(
  { source, mountpoint }: MountEntry,
  mount: RecordedMount | undefined,
  state: MountState | null,
): ListedMount {
  const record = mount?.record;
  const { job, supervised } = record ?? {};
  const isDead = state === "dead";
  const counts = mount && readCounts(mount);
  return {
    source: record?.source ?? source,
    sources: job?.sources.map(shown) ?? null,
    mountpoint,
    pid: record && isRunning(record) ? record.pid : null,
    supervisor: supervised && isRunning(supervised.supervisor)
      ? supervised.supervisor.pid
      : null,
    state,
    // Of a mount whose processes were all killed, nobody recorded a reason.
    reason: mount && isDead
      ? reasonOf(mount.files) ?? "all of its processes were killed"
      : null,
    started: record?.started ?? null,
    uptime: record && !isDead ? secondsSince(record.mountedTicks) : null,
    restarts: supervised?.restarts ?? null,
    requests: counts?.requests ?? null,
    bytes: counts?.bytes ?? null,
    errors: counts?.errors ?? null,
    fetched: counts?.fetched ?? null,
    options: job ? jobOptions(job) : null,
    subset: job?.subset ?? null,
    shuffle: job?.shuffle ?? null,
    log: record?.log ?? null,
    version: record?.version ?? null,
  };
}

/**
 * Returns the current counts of all servers of a mount, if known. Its processes have the counter file open; a
 * supervisor that gives up saves it to a file.
 */
function readCounts(
  { files, record }: RecordedMount,
): ServedCounts | undefined {
  const { supervised } = record;
  if (!supervised) return undefined; // in the foreground
  const { counts, supervisor } = supervised;
  const places = counts === null ? [] : [record, supervisor].filter(isRunning)
    .map(({ pid }) => () => readDescriptor(pid, counts, COUNTS_SIZE));
  return [...places, () => files.read("stats")]
    .map((read) => attempt(() => sumCounts(read()!)))
    .find((counts) => counts !== undefined);
}
