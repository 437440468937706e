import { mountPath } from "../../fuse/mount_container.ts";
import { parseMountOptions } from "../../fuse/mount_options.ts";
import type { Server } from "../../fuse/server.ts";
import { RecordfsError } from "../errors.ts";
import { absolutePath } from "./absolute_path.ts";
import type { BackgroundAnswer } from "./background.ts";
import { Exit, ExitCode } from "./exit.ts";
import { report, warn } from "./messages.ts";
import type { MountJob } from "./mount_job.ts";
import {
  logOf,
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
}

/** Mounts and serves until it is unmounted or a signal comes. */
export async function serveForeground(
  job: MountJob,
  begun: Begun,
): Promise<void> {
  pruneRecords();
  await serve(absolute(job), begun, {
    recordPath: newRecordPath(),
    log: null,
    say: report,
    onReady: (mountpoint) => {
      report(`${job.source} is mounted on ${mountpoint}; Ctrl-C unmounts`);
      return Promise.resolve();
    },
  });
}

/** What `recordfs mount` leaves in the background; it answers on standard output. */
export async function serveInBackground(
  given: MountJob,
  recordPath: string,
  begun: Begun,
): Promise<void> {
  const job = absolute(given);
  Deno.chdir("/"); // or it would keep a file system in use
  const log = logOf(recordPath);
  let answered = false;
  const say = (message: string) =>
    report(`${new Date().toISOString()} ${message}`);
  try {
    await serve(job, begun, {
      recordPath,
      log,
      say,
      onReady: async (mountpoint) => {
        say(`${job.source} is mounted on ${mountpoint}`);
        await answer({ ready: true });
        answered = true;
      },
    });
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) {
      say("nobody waits for this mount any more: it is unmounted");
    }
    if (answered || !(error instanceof RecordfsError)) throw error;
    await answer({ error: error.message });
    throw new Exit(ExitCode.FAILED);
  }
  removeFile(log); // it ended well: there is nothing to look up
}

function absolute(job: MountJob): MountJob {
  const { source, mountpoint } = job;
  return {
    ...job,
    source: absolutePath(source),
    mountpoint: absolutePath(mountpoint),
  };
}

/** Fails if the command that waits for the answer is gone; the mount then must not stay. */
async function answer(answer: BackgroundAnswer): Promise<void> {
  const line = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
  await Deno.stdout.write(line);
}

interface Surroundings {
  readonly recordPath: string;
  readonly log: string | null;
  readonly say: (message: string) => void;
  readonly onReady: (mountpoint: string) => Promise<void>;
}

async function serve(
  job: MountJob,
  { server, fresh }: Begun,
  { recordPath, log, say, onReady }: Surroundings,
): Promise<void> {
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEndSignal((signal, again) => {
    // Something else may hang, such as the disk that the container is on.
    if (again) Deno.exit(signalExitCode(signal));
    say(`${signal}: unmounting`);
    asked.resolve(undefined);
  });
  await fresh;
  // Its disposal unmounts, by force where it is in use.
  const options = {
    ...parseMountOptions(job.options),
    format: job.format,
    ext: job.ext,
    decoded: job.decoded,
    onWarning: warn,
  };
  await using mounted = await mountPath(
    job.source,
    job.mountpoint,
    options,
    server,
  );
  const { mountpoint } = mounted;
  writeRecord(recordPath, {
    ...identify(Deno.pid)!,
    source: job.source,
    mountpoint,
    log,
    started: new Date().toISOString(),
    version: VERSION,
  });
  try {
    await onReady(mountpoint);
    const end = await Promise.race([mounted.finished, asked.promise]);
    if (end?.failure !== undefined) throw end.failure;
  } finally {
    removeFile(recordPath);
  }
}
