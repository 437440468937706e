import type { Agreed } from "../../../fuse/server/connection_state.ts";
import {
  findMount,
  type MountEntry,
  readMounts,
} from "../../../fuse/mounting/mountinfo.ts";
import { MoreInitFlag } from "../../../fuse/wire/flags.ts";
import {
  NotPrivateError,
  type PrivateDirectory,
} from "../../io/directories/private_directory.ts";
import { whatIsWrong } from "../../io/libc/system_error.ts";
import { warn } from "../messages.ts";
import type { HiddenArguments, MountJob } from "./job/mount_job.ts";
import { MountFiles } from "./mount_files.ts";
import { attempt, isRunning, type ProcessId } from "./processes.ts";
import { parseRecord } from "./record_shape.ts";
import {
  makeStateDirectory,
  stateDirectories,
  workingStateDirectory,
} from "./state_directories.ts";

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

/**
 * Why no other server can go on with a mount, if it is the system that keeps it from that.
 *
 * @returns A reason for messages, or `undefined` if the system allows it.
 */
export function whyNoOtherServer(
  { held, agreed }: SupervisedMount,
): string | undefined {
  if (held.length === 0) return "/dev/fuse cannot be opened";
  if (agreed.moreFlags & MoreInitFlag.HAS_RESEND) return undefined;
  return "the kernel cannot repeat requests (Linux 6.9 or later can)";
}

/** How names of logs end, and of their earlier parts. */
const LOG = /\.log(\.1)?$/;
/** How names of records end. */
const RECORD = /\.json$/;

/** Logs of mounts that ended badly are kept this long. */
const KEEP_LOGS_MS = 7 * 24 * 3600 * 1000;

/**
 * Makes up the name of a new record.
 *
 * @throws {StateDirectoryError} If there is no directory for it.
 */
export function newMountFiles(): MountFiles {
  return new MountFiles(makeStateDirectory(), crypto.randomUUID());
}

/**
 * The files of the mount whose server this process is to be, which was started in their directory.
 *
 * @throws {StateDirectoryError} If others could read and replace them.
 */
export function servedMountFiles(id: string): MountFiles {
  return new MountFiles(workingStateDirectory(), id);
}

/** Removes a record and all that belongs to it but the log. */
export function removeRecord(files: MountFiles): void {
  files.remove("stats", "dead", "command", "next", "hidden", "json");
}

/** Writes what a server is told that others may not see, if there is such. */
export function writeHidden(
  files: MountFiles,
  { sources, remote }: MountJob,
): void {
  if (remote === undefined) return;
  const hidden = { sources, remote } satisfies HiddenArguments;
  files.write("hidden", JSON.stringify(hidden));
}

/** Writes a record. */
export function writeRecord(files: MountFiles, record: MountRecord): void {
  files.write("json", textOf(record));
}

/**
 * Changes a record that is there already. Where the disk is full that is done in its place, which takes no
 * more room.
 */
export function updateRecord(files: MountFiles, record: MountRecord): void {
  const text = textOf(record);
  try {
    files.write("json", text);
  } catch {
    files.overwrite("json", text);
  }
}

/** What a record says, line by line: the supervisor reads it so. */
function textOf(record: MountRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Reads a record; `undefined` where there is none, or none that can be believed, which a warning says. */
export function readRecord(files: MountFiles): MountRecord | undefined {
  try {
    const text = files.readText("json");
    return text === undefined ? undefined : parseRecord(text);
  } catch (error) {
    const path = files.path("json");
    if (!ignored.has(path)) {
      const why = error instanceof NotPrivateError
        ? `it ${error.fault}`
        : whatIsWrong(error);
      warn(`The record ${path} is ignored: ${why}. Remove it`);
    }
    ignored.add(path);
    return undefined;
  }
}

/** Paths of records that a warning was about. */
const ignored = new Set<string>();

/**
 * The process whose end is the end of a mount: the supervisor where it runs, since it may start another
 * server; `undefined` if nothing of it runs.
 */
export function keeperOf(record: MountRecord): ProcessId | undefined {
  const supervisor = record.supervised?.supervisor;
  if (supervisor !== undefined && isRunning(supervisor)) return supervisor;
  return isRunning(record) ? record : undefined;
}

/** A mount of which there is a record. */
export interface RecordedMount {
  readonly files: MountFiles;
  readonly record: MountRecord;
}

/** All mounts that this user has a record of, also those whose processes were killed. */
export function recordedMounts(): RecordedMount[] {
  return stateDirectories().flatMap(recordsIn);
}

/** Mounts of which there are records in a directory; a warning names each that can't be believed. */
export function recordsIn(directory: PrivateDirectory): RecordedMount[] {
  return directory.list().filter((name) => RECORD.test(name))
    .flatMap((name) => {
      const files = new MountFiles(directory, name.replace(RECORD, ""));
      const record = readRecord(files);
      return record === undefined ? [] : [{ files, record }];
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
export function reasonOf(files: MountFiles): string | undefined {
  return attempt(() => files.readText("dead")?.trimEnd()) || undefined;
}

/** Notes why a mount is given up, for {@linkcode reasonOf}. */
export function writeReason(files: MountFiles, reason: string): void {
  const line = reason.replaceAll(/\s*\n\s*/g, " ");
  try {
    files.write("dead", `${line}\n`);
  } catch {
    // The disk is full, perhaps: the log has it as well.
  }
}

/** Removes records of mounts that have ended, and old logs. */
export function pruneRecords(): void {
  const directory = makeStateDirectory();
  for (const { files, record } of recordsIn(directory)) {
    if (hasEnded(record)) removeRecord(files);
  }
  const names = directory.list();
  const kept = new Set(names.filter((name) => RECORD.test(name)));
  for (const name of names) {
    if (!LOG.test(name) || kept.has(name.replace(LOG, ".json"))) continue;
    const { mtimeMs } = directory.stat(name) ?? { mtimeMs: Infinity };
    if (Date.now() - mtimeMs > KEEP_LOGS_MS) directory.remove(name);
  }
}

/** Whether nothing is left of a mount: where its processes were killed, it is stale until it is removed. */
function hasEnded(record: MountRecord): boolean {
  return keeperOf(record) === undefined &&
    !readMounts().some((entry) => isOf(record, entry));
}
