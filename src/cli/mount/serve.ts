import { mountPath } from "../../../fuse/mount_container.ts";
import type { MountPathOptions } from "../../../fuse/mount_container.ts";
import { parseMountOptions } from "../../../fuse/mounting/mount_options.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import { findMount, readMounts } from "../../../fuse/mounting/mountinfo.ts";
import type { Server } from "../../../fuse/server/server.ts";
import { firstOnly, report, warn } from "../messages.ts";
import { absolute, containersOf } from "./job/job_sources.ts";
import type { MountJob } from "./job/mount_job.ts";
import {
  type MountRecord,
  newRecordPath,
  pruneRecords,
  readRecord,
  removeRecord,
  writeReason,
  writeRecord,
} from "./mount_records.ts";
import { identify, ticksSinceBoot } from "./processes.ts";
import { onEndSignal, signalExitCode } from "../terminal/signals.ts";
import { VERSION } from "../version.ts";

/** What was begun before there was all that mounting needs. */
export interface Begun {
  readonly server: Server;
  /** What removes a dead mount from the mount point; rejects if there is one that nobody may remove. */
  readonly vacated: Promise<(() => Promise<void>) | undefined>;
  /** Descriptors of /dev/fuse that the supervisor has opened; none without one. */
  readonly held: readonly number[];
  /** Descriptor of what the server's threads count in, or -1. */
  readonly counts: number;
  /** Resolves when a thread of the server failed. */
  readonly failed: Promise<string>;
  /** Reports a message. */
  readonly log: (message: string) => void;
}

/** Mounts and serves until it is unmounted or a signal comes. */
export async function serveForeground(
  given: MountJob,
  { server, vacated }: Begun,
): Promise<void> {
  pruneRecords();
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEnd(report, () => asked.resolve(undefined));
  const vacate = await vacated;
  const job = absolute(given);
  const options = containerOptions(job);
  const beforehand = { started: server, vacate };
  const mounted = await mountPath(
    containersOf(job),
    job.mountpoint,
    options,
    beforehand,
  );
  const recordPath = newRecordPath();
  try {
    const record = newRecord(job, mounted, null);
    writeRecord(recordPath, record);
    report(
      `${given.source} is mounted on ${mounted.mountpoint}; Ctrl-C unmounts`,
    );
    noteContainer(recordPath, record);
    const end = await Promise.race([mounted.finished, asked.promise]);
    if (end?.failure !== undefined) throw end.failure;
  } catch (error) {
    if (job.onFailure === "unmount" || !(error instanceof MountError)) {
      await finish(recordPath, mounted);
    } else writeReason(recordPath, error.message);
    throw error;
  }
  await finish(recordPath, mounted);
}

/** Unmounts, by force where it is in use. */
export async function finish(
  recordPath: string,
  mounted: Mount,
): Promise<void> {
  removeRecord(recordPath);
  await mounted[Symbol.asyncDispose]();
}

/** What is to be known of a mount that this process has just made. */
export function newRecord(
  job: MountJob,
  { mountpoint }: Mount,
  supervised: MountRecord["supervised"],
): MountRecord {
  return {
    ...identify(Deno.pid)!,
    source: job.source,
    mountpoint,
    log: null,
    started: new Date().toISOString(),
    mountedTicks: ticksSinceBoot(),
    version: VERSION,
    device: findMount(readMounts(), mountpoint)?.device ?? "",
    job,
    container: null,
    supervised,
  };
}

/** Notes what container is mounted, so that `mounts` can tell that it was changed. */
async function noteContainer(
  recordPath: string,
  record: MountRecord,
): Promise<void> {
  try {
    const { jobIdentity } = await import("./container_identity.ts");
    const container = await jobIdentity(record.job);
    if (readRecord(recordPath) !== undefined) {
      writeRecord(recordPath, { ...record, container });
    }
  } catch {
    // It is being changed already, or there is no room: `mounts` says nothing about it then.
  }
}

/**
 * Calls `listener` when a signal asks to end, and ends at once when another one does.
 *
 * @param echoMs For so many milliseconds another one does not count.
 */
export function onEnd(
  say: (message: string) => void,
  listener: () => void,
  echoMs = 0,
): Disposable {
  let first = 0;
  return onEndSignal((signal, again) => {
    if (again) {
      // Something else may hang, such as the disk that the container is on.
      if (performance.now() - first >= echoMs) {
        Deno.exit(signalExitCode(signal));
      }
      return;
    }
    first = performance.now();
    say(`${signal}: unmounting`);
    listener();
  });
}

/** How a job's container is opened and mounted. */
export function containerOptions(job: MountJob): MountPathOptions {
  return {
    ...parseMountOptions(job.options),
    format: job.format,
    ext: job.ext,
    decoded: job.decoded,
    prefix: job.prefix,
    onWarning: firstOnly(warn, "`recordfs info --all` names them"),
    arrange: job.subset === undefined && job.shuffle === undefined
      ? undefined
      : async (container) =>
        (await import("./arrange.ts")).arrange(job, container),
  };
}
