import { mountPath } from "../../fuse/mount_container.ts";
import type { MountPathOptions } from "../../fuse/mount_container.ts";
import { parseMountOptions } from "../../fuse/mount_options.ts";
import type { Server } from "../../fuse/server.ts";
import { absolutePath } from "./absolute_path.ts";
import { firstOnly } from "./flood.ts";
import { report, warn } from "./messages.ts";
import type { MountJob } from "./mount_job.ts";
import {
  newRecordPath,
  pruneRecords,
  removeFile,
  writeRecord,
} from "./mount_records.ts";
import { identify } from "./processes.ts";
import { onEndSignal, signalExitCode } from "./signals.ts";
import { VERSION } from "./version.ts";

/** What was begun before there was all that mounting needs. */
export interface Begun {
  readonly server: Server;
  /** Rejects if what is mounted on the mount point lost its server. */
  readonly fresh: Promise<void>;
  /** Descriptors of /dev/fuse that the supervisor has opened; none without one. */
  readonly held: readonly number[];
  /** Resolves when a thread of the server failed. */
  readonly failed: Promise<string>;
  /** Reports a message. */
  readonly log: (message: string) => void;
}

/** Mounts and serves until it is unmounted or a signal comes. */
export async function serveForeground(
  given: MountJob,
  { server, fresh }: Begun,
): Promise<void> {
  pruneRecords();
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEnd(report, () => asked.resolve(undefined));
  await fresh;
  const job = absolute(given);
  // Its disposal unmounts, by force where it is in use.
  await using mounted = await mountPath(
    job.source,
    job.mountpoint,
    containerOptions(job),
    server,
  );
  const { mountpoint } = mounted;
  const recordPath = newRecordPath();
  writeRecord(recordPath, {
    ...identify(Deno.pid)!,
    source: job.source,
    mountpoint,
    log: null,
    started: new Date().toISOString(),
    version: VERSION,
    supervised: null,
  });
  try {
    report(`${given.source} is mounted on ${mountpoint}; Ctrl-C unmounts`);
    const end = await Promise.race([mounted.finished, asked.promise]);
    if (end?.failure !== undefined) throw end.failure;
  } finally {
    removeFile(recordPath);
  }
}

/** Calls `listener` when a signal asks to end, and ends at once when another one does. */
export function onEnd(
  say: (message: string) => void,
  listener: () => void,
): Disposable {
  return onEndSignal((signal, again) => {
    // Something else may hang, such as the disk that the container is on.
    if (again) Deno.exit(signalExitCode(signal));
    say(`${signal}: unmounting`);
    listener();
  });
}

/** The same job with paths that do not depend on the working directory. */
export function absolute(job: MountJob): MountJob {
  const { source, mountpoint, subset } = job;
  return {
    ...job,
    source: absolutePath(source),
    mountpoint: absolutePath(mountpoint),
    subset: subset === undefined ? undefined : absolutePath(subset),
  };
}

/** How a job's container is opened and mounted. */
export function containerOptions(job: MountJob): MountPathOptions {
  return {
    ...parseMountOptions(job.options),
    format: job.format,
    ext: job.ext,
    decoded: job.decoded,
    onWarning: firstOnly(warn, "`recordfs info --all` names them"),
    arrange: job.subset === undefined && job.shuffle === undefined
      ? undefined
      : async (container) =>
        (await import("./arrange.ts")).arrange(job, container),
  };
}
