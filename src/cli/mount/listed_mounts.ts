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
import { type Answer, askMount, within } from "./mount_state.ts";
import {
  attempt,
  isRunning,
  readDescriptor,
  secondsSince,
} from "./processes.ts";
import { jobOptions } from "./supervisor.ts";

/**
 * How a mount is. `changed`: it answers, and its container, or index file, is no more what was mounted.
 * `restarting`: its server died, and readers wait for another one. `hung`: its server does not answer. `dead`:
 * it lost its server for good, and fails until somebody unmounts it or mounts it again.
 */
type MountState = Answer | "changed" | "restarting";

/** The container of a mount is looked at for so long, in milliseconds; it may be on a disk that hangs. */
const LOOK_MS = 3000;

/** A mount as `recordfs mounts --json` prints it; `null` is what this user's records do not tell. */
export interface ListedMount {
  readonly source: string;
  /** The containers, and where each of several shows. */
  readonly sources: readonly PlacedSource[] | null;
  readonly mountpoint: string;
  /** The process that serves it; `null` also while there is none. */
  readonly pid: number | null;
  /** The process that starts another one when that dies; `null` also where there is none. */
  readonly supervisor: number | null;
  /** `null` for somebody else's that another mount hides. */
  readonly state: MountState | null;
  /** Why a dead mount was given up. */
  readonly reason: string | null;
  readonly started: string | null;
  /** Seconds since then, however the clock was set meanwhile; `null` also for a dead mount. */
  readonly uptime: number | null;
  /** How often another process took over from one that died. */
  readonly restarts: number | null;
  /** Requests of the kernel by kind; with those that earlier processes answered. */
  readonly requests: ServedCounts["requests"] | null;
  /** Bytes of the replies. */
  readonly bytes: number | null;
  /** Requests that ended with EIO. */
  readonly errors: number | null;
  /** What was fetched from servers, and how often; `null` also where all is local. */
  readonly fetched: FetchedCounts | null;
  /** What it was mounted with, as words of a command line. */
  readonly options: readonly string[] | null;
  /** Path of the index file that says which samples show; `null` also for all of them. */
  readonly subset: string | null;
  /** Which links show beside the samples; `null` also for none. */
  readonly shuffle: Shuffle | null;
  readonly log: string | null;
  readonly version: string | null;
}

/** Finds what is mounted. */
export async function listMounts(): Promise<ListedMount[]> {
  const known = recordedMounts();
  const entries = readMounts();
  const looked = await Promise.all(
    entries.map((entry) => look(entry, entries, known)),
  );
  return looked.filter((mount) => mount !== undefined);
}

/** Looks at something mounted; `undefined` if it is none of recordfs. */
async function look(
  entry: MountEntry,
  entries: readonly MountEntry[],
  known: readonly RecordedMount[],
): Promise<ListedMount | undefined> {
  const { mountpoint, type } = entry;
  const records = known.filter(({ record }) => isOf(record, entry));
  // With -o subtype= it has another type.
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
  // Nobody would answer, and whoever asks would wait.
  if (record !== undefined && !isRunning(record)) {
    return keeperOf(record) === undefined ? "dead" : "restarting";
  }
  if (!isOnTop && record === undefined) return null; // what asks would ask the upper one
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

/** Without what may be secret in a URL. */
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
    // Killed mounts nobody has given up.
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
 * What all servers of a mount have counted, as of now: its processes have open what they count in, and a
 * supervisor that gives up keeps it in a file.
 *
 * @returns `undefined` where nobody has kept it.
 */
function readCounts(
  { files, record }: RecordedMount,
): ServedCounts | undefined {
  const { supervised } = record;
  if (!supervised) return undefined; // one in the foreground
  const { counts, supervisor } = supervised;
  const places = counts === null ? [] : [record, supervisor].filter(isRunning)
    .map(({ pid }) => () => readDescriptor(pid, counts, COUNTS_SIZE));
  return [...places, () => files.read("stats")]
    .map((read) => attempt(() => sumCounts(read()!)))
    .find((counts) => counts !== undefined);
}
