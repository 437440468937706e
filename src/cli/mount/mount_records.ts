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
} from "../../io/dirfd/private_directory.ts";
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

/** Record of a running mount, stored in its own file. */
export interface MountRecord extends ProcessId {
  readonly source: string;
  readonly mountpoint: string;
  /** Path of the log; `null` for a mount in the foreground. */
  readonly log: string | null;
  /** ISO date and time of mounting. */
  readonly started: string;
  /** Time of mounting in clock ticks since boot. */
  readonly mountedTicks: number;
  readonly version: string;
  readonly device: string;
  /** The job of the server; paths are absolute. */
  readonly job: MountJob;
  /** Hash that identifies the container's state; `null` until it has been computed. */
  readonly container: string | null;
  /** State for a new server; `null` for a mount without a supervisor. */
  readonly supervised: SupervisedMount | null;
}

export interface SupervisedMount {
  /** The process that holds the mount's descriptors. */
  readonly supervisor: ProcessId;
  readonly restarts: number;
  /** When the server began to serve, in clock ticks since boot. */
  readonly servingTicks: number;
  readonly agreed: Agreed;
  /** Whether a new server can take over: the kernel can resend requests in flight. */
  readonly resumable: boolean;
  /** Descriptor of the counter file, which servers inherit; `null` if there is none. */
  readonly counts: number | null;
  /** Descriptors of /dev/fuse that servers inherit. */
  readonly held: readonly number[];
}

/** Returns why the system prevents another server from taking over a mount; `undefined` if it does not. */
export function whyNoOtherServer(
  { held, agreed }: SupervisedMount,
): string | undefined {
  if (held.length === 0) return "/dev/fuse cannot be opened";
  if (agreed.moreFlags & MoreInitFlag.HAS_RESEND) return undefined;
  return "the kernel cannot repeat requests (Linux 6.9 or later can)";
}

const LOG = /\.log(\.1)?$/;
const RECORD = /\.json$/;

/** How long logs of mounts that ended badly are kept. */
const KEEP_LOGS_MS = 7 * 24 * 3600 * 1000;

/** Creates the name of a new record. */
export function newMountFiles(): MountFiles {
  return new MountFiles(makeStateDirectory(), crypto.randomUUID());
}

/** Returns the files of the mount that this process serves. It was started in their directory. */
export function servedMountFiles(id: string): MountFiles {
  return new MountFiles(workingStateDirectory(), id);
}

/** Removes a record and all files of the mount except the log. */
export function removeRecord(files: MountFiles): void {
  files.remove("stats", "dead", "command", "next", "hidden", "json");
}

/** Writes the arguments that must not appear in the list of processes, if any. */
export function writeHidden(
  files: MountFiles,
  { sources, remote }: MountJob,
): void {
  if (remote === undefined) return;
  const hidden = { sources, remote } satisfies HiddenArguments;
  files.write("hidden", JSON.stringify(hidden));
}

export function writeRecord(files: MountFiles, record: MountRecord): void {
  files.write("json", textOf(record));
}

/** Updates an existing record. If the disk is full, overwrites it in place, which needs no more room. */
export function updateRecord(files: MountFiles, record: MountRecord): void {
  const text = textOf(record);
  try {
    files.write("json", text);
  } catch {
    files.overwrite("json", text);
  }
}

/** Formats a record, one field per line: the supervisor's script reads it line by line. */
function textOf(record: MountRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Reads a record. Returns `undefined` if it does not exist, or is invalid, which is warned about once. */
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

/** Paths of invalid records already warned about. */
const ignored = new Set<string>();

/**
 * Returns the process whose end ends the mount: the supervisor if it runs, since it may start another server;
 * `undefined` if no process of the mount runs.
 */
export function keeperOf(record: MountRecord): ProcessId | undefined {
  const supervisor = record.supervised?.supervisor;
  if (supervisor !== undefined && isRunning(supervisor)) return supervisor;
  return isRunning(record) ? record : undefined;
}

export interface RecordedMount {
  readonly files: MountFiles;
  readonly record: MountRecord;
}

/** Returns all mounts that this user has a record of, including those whose processes were killed. */
export function recordedMounts(): RecordedMount[] {
  return stateDirectories().flatMap(recordsIn);
}

/** Returns the mounts recorded in a directory. Warns of invalid records. */
export function recordsIn(directory: PrivateDirectory): RecordedMount[] {
  return directory.list().filter((name) => RECORD.test(name))
    .flatMap((name) => {
      const files = new MountFiles(directory, name.replace(RECORD, ""));
      const record = readRecord(files);
      return record === undefined ? [] : [{ files, record }];
    });
}

/**
 * Whether a record describes the given mount. A bind mount elsewhere has the same device. Once no process of the
 * recorded mount runs, its device number may belong to another mount.
 */
export function isOf(record: MountRecord, entry: MountEntry): boolean {
  const { mountpoint, device } = record;
  if (!entry.type.startsWith("fuse") || device !== entry.device) return false;
  return mountpoint === entry.mountpoint || keeperOf(record) !== undefined;
}

export interface MountAt {
  readonly entry: MountEntry;
  readonly records: readonly RecordedMount[];
}

/** Returns the mount that a path leads to; `undefined` if the path is not a mount point. */
export function mountAt(mountpoint: string): MountAt | undefined {
  const entry = findMount(readMounts(), mountpoint);
  return entry && {
    entry,
    records: recordedMounts().filter(({ record }) => isOf(record, entry)),
  };
}

/** Returns why a mount was given up; `undefined` if unknown. */
export function reasonOf(files: MountFiles): string | undefined {
  return attempt(() => files.readText("dead")?.trimEnd()) || undefined;
}

/** Stores why a mount is given up, for {@linkcode reasonOf}. */
export function writeReason(files: MountFiles, reason: string): void {
  const line = reason.replaceAll(/\s*\n\s*/g, " ");
  try {
    files.write("dead", `${line}\n`);
  } catch {
    // The disk may be full. The log has the reason as well.
  }
}

/** Removes records of ended mounts, and old logs. */
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

/** Whether nothing is left of a mount. One whose processes were killed stays, stale, until it is removed. */
function hasEnded(record: MountRecord): boolean {
  return keeperOf(record) === undefined &&
    !readMounts().some((entry) => isOf(record, entry));
}
