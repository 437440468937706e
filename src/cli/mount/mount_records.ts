import type { Agreed } from "../../../fuse/server/connection_state.ts";
import {
  findMount,
  type MountEntry,
  readMounts,
} from "../../../fuse/mounting/mountinfo.ts";
import { RecordfsError } from "../../errors.ts";
import type { HiddenArguments, MountJob } from "./job/mount_job.ts";
import { attempt, isRunning, type ProcessId } from "./processes.ts";

/** What is kept of a running mount, in a file of its own. */
export interface MountRecord extends ProcessId {
  readonly source: string;
  readonly mountpoint: string;
  /** Path of the log; `null` for a mount in the foreground. */
  readonly log: string | null;
  /** When it was mounted. */
  readonly started: string;
  /** Likewise, in clock ticks since boot. */
  readonly mountedTicks: number;
  readonly version: string;
  /** Device number as `major:minor`. */
  readonly device: string;
  /** What the server was told to mount, and how; paths are absolute. */
  readonly job: MountJob;
  /** What tells the container from another; `null` until it has been looked at. */
  readonly container: string | null;
  /** What a new server goes on with; `null` for a mount without a supervisor. */
  readonly supervised: SupervisedMount | null;
}

/** What is kept of a mount whose server is replaced when it dies. */
export interface SupervisedMount {
  /** The process that holds the mount's descriptors. */
  readonly supervisor: ProcessId;
  /** How often a new server took over. */
  readonly restarts: number;
  /** When the server began to serve, in clock ticks since boot. */
  readonly servingTicks: number;
  /** What INIT agreed on. */
  readonly agreed: Agreed;
  /** Whether a new server can take over: the kernel repeats what was in flight. */
  readonly resumable: boolean;
  /** Number of the descriptor of what threads count in, which servers inherit; `null` where there is none. */
  readonly counts: number | null;
  /** Numbers of the descriptors of /dev/fuse that they inherit. */
  readonly held: readonly number[];
}

/** How names of logs end, and of their earlier parts. */
const LOG = /\.log(\.1)?$/;

/** Logs of mounts that ended badly are kept this long. */
const KEEP_LOGS_MS = 7 * 24 * 3600 * 1000;

/** Makes up the path of a new record. Other files of the mount are {@linkcode recordFile}s of it. */
export function newRecordPath(): string {
  return `${makeStateDirectory()}/${crypto.randomUUID()}.json`;
}

/**
 * Files beside a record: the mount's log; the counts of one that was given up, and why it was; the command line that
 * the supervisor starts servers by, where that is not its first one, and the one that is to become that, if its first
 * server starts; and what of it only its owner may see.
 */
type RecordFile = "log" | "stats" | "dead" | "command" | "next" | "hidden";

/** The path of a file that belongs to a record. */
export function recordFile(recordPath: string, kind: RecordFile): string {
  return recordPath.replace(/json$/, kind);
}

/** Removes a record and all that belongs to it but the log. */
export function removeRecord(path: string): void {
  for (const kind of ["stats", "dead", "command", "next", "hidden"] as const) {
    removeFile(recordFile(path, kind));
  }
  removeFile(path);
}

/** Writes what a server is told that others may not see, if there is such. */
export function writeHidden(path: string, { sources, remote }: MountJob): void {
  if (remote === undefined) return;
  const file = recordFile(path, "hidden");
  const text = JSON.stringify({ sources, remote } satisfies HiddenArguments);
  Deno.writeTextFileSync(file, text, { mode: 0o600 });
}

/** Writes a record, all at once: another process may be reading. */
export function writeRecord(path: string, record: MountRecord): void {
  const temporary = `${path}.part`;
  const text = `${JSON.stringify(record, null, 2)}\n`;
  try {
    Deno.writeTextFileSync(temporary, text, { mode: 0o600 });
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

/**
 * Changes a record that is there already. Where the disk is full that is done in its place, which takes no
 * more room.
 */
export function updateRecord(path: string, record: MountRecord): void {
  try {
    writeRecord(path, record);
  } catch {
    const text = `${JSON.stringify(record, null, 2)}\n`;
    const bytes = new TextEncoder().encode(text);
    using file = Deno.openSync(path, { write: true });
    for (let done = 0; done < bytes.length;) {
      done += file.writeSync(bytes.subarray(done));
    }
    file.truncateSync(bytes.length);
  }
}

/** Reads a record; `undefined` where there is none. */
export function readRecord(path: string): MountRecord | undefined {
  return attempt(() => JSON.parse(Deno.readTextFileSync(path)) as MountRecord);
}

/**
 * The process whose end is the end of a mount: the supervisor where it runs, since it may start another
 * server; `undefined` if nothing of it runs.
 */
export function keeperOf(record: MountRecord): ProcessId | undefined {
  const supervisor = record.supervised?.supervisor;
  if (supervisor !== undefined && isRunning(supervisor)) return supervisor;
  return isRunning(record) ? record : undefined;
}

/** Removes a record or a log, if it is still there. */
export function removeFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** A mount of which there is a record. */
export interface RecordedMount {
  /** Where its record is. */
  readonly path: string;
  readonly record: MountRecord;
}

/** All mounts that this user has a record of, also those whose processes were killed. */
export function recordedMounts(): RecordedMount[] {
  const paths = stateDirectories()
    .flatMap((directory) => filesIn(directory, /\.json$/));
  return paths.flatMap((path) => {
    const record = readRecord(path);
    return record === undefined ? [] : [{ path, record }];
  });
}

/**
 * Whether a record is of what the kernel has mounted there, as far as it tells: a bind mount elsewhere is
 * of the same device. Where nothing of the mount runs, its device may be another one's by now.
 */
export function isOf(record: MountRecord, entry: MountEntry): boolean {
  const { mountpoint, device } = record;
  if (!entry.type.startsWith("fuse") || device !== entry.device) return false;
  return mountpoint === entry.mountpoint || keeperOf(record) !== undefined;
}

/** What is mounted on a directory, with this user's records of it. */
export interface MountAt {
  readonly entry: MountEntry;
  readonly records: readonly RecordedMount[];
}

/** The mount that a path leads to; `undefined` where it is no mount point. */
export function mountAt(mountpoint: string): MountAt | undefined {
  const entry = findMount(readMounts(), mountpoint);
  return entry && {
    entry,
    records: recordedMounts().filter(({ record }) => isOf(record, entry)),
  };
}

/** Why a mount was given up; `undefined` where nobody said. */
export function reasonOf(path: string): string | undefined {
  const file = recordFile(path, "dead");
  return attempt(() => Deno.readTextFileSync(file).trimEnd()) || undefined;
}

/** Notes why a mount is given up, for {@linkcode reasonOf}. */
export function writeReason(path: string, reason: string): void {
  const line = reason.replaceAll(/\s*\n\s*/g, " ");
  try {
    Deno.writeTextFileSync(recordFile(path, "dead"), `${line}\n`, {
      mode: 0o600,
    });
  } catch {
    // The disk is full, perhaps: the log has it as well.
  }
}

/** Removes records of mounts that have ended, and old logs. */
export function pruneRecords(): void {
  const directory = makeStateDirectory();
  for (const path of filesIn(directory, /\.json$/)) {
    const record = readRecord(path);
    if (record === undefined || hasEnded(record)) removeRecord(path);
  }
  const kept = new Set(filesIn(directory, /\.json$/));
  for (const path of filesIn(directory, LOG)) {
    if (kept.has(path.replace(LOG, ".json"))) continue;
    const changed = attempt(() => Deno.statSync(path).mtime);
    if (Date.now() - (changed?.getTime() ?? 0) > KEEP_LOGS_MS) removeFile(path);
  }
}

/** Whether nothing is left of a mount: where its processes were killed, it is stale until it is removed. */
function hasEnded(record: MountRecord): boolean {
  return keeperOf(record) === undefined &&
    !readMounts().some((entry) => isOf(record, entry));
}

/** Paths of those files of a directory; none where it is not there, or not for this user. */
function filesIn(directory: string, names: RegExp): string[] {
  const found = attempt(() => [...Deno.readDirSync(directory)]) ?? [];
  return found.filter(({ name }) => names.test(name))
    .map(({ name }) => `${directory}/${name}`);
}

/**
 * Directories that may hold what is known of running mounts, the preferred one first.
 *
 * A mount made at boot or by another session of the same user may be in any of them.
 */
function stateDirectories(): string[] {
  const directories: string[] = [];
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  if (runtime?.startsWith("/")) directories.push(`${runtime}/recordfs`);
  if (Deno.uid() === 0) directories.push("/run/recordfs");
  directories.push(`/tmp/recordfs-${Deno.uid()}`);
  return directories;
}

/**
 * Makes the first of the directories that can be made.
 *
 * @throws {RecordfsError} If it belongs to somebody else, who could then read and replace what is in
 * it.
 */
function makeStateDirectory(): string {
  let refusal: unknown;
  for (const directory of stateDirectories()) {
    try {
      Deno.mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) {
        refusal = error;
        continue; // the session's directory can be gone while a session's variable is still set
      }
    }
    checkOwner(directory);
    return directory;
  }
  throw refusal;
}

function checkOwner(directory: string): void {
  const { isDirectory, uid, mode } = Deno.lstatSync(directory);
  if (isDirectory && uid === Deno.uid() && ((mode ?? 0) & 0o077) === 0) return;
  throw new RecordfsError(
    "unsafe-state-directory",
    `Cannot keep logs and process ids in ${directory}: it must be a directory ` +
      `that belongs to you and that nobody else can enter (chmod 700)`,
    { path: directory },
  );
}
