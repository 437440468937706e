import * as fs from "node:fs";
import process from "node:process";
import { mount } from "../../fuse/mod.ts";
import { parseMountOptions } from "../../fuse/mount_options.ts";
import { RecordfsError } from "../errors.ts";
import type { BackgroundAnswer, MountJob } from "./background.ts";
import { Exit, ExitCode } from "./exit.ts";
import { report, warn } from "./messages.ts";
import {
  logOf,
  newRecordPath,
  removeRecord,
  writeRecord,
} from "./mount_records.ts";
import { identify } from "./processes.ts";
import { onEndSignal, signalExitCode } from "./signals.ts";
import { openSource } from "./source.ts";
import { VERSION } from "./version.ts";

/** Mounts and serves until it is unmounted or a signal comes. */
export async function serveForeground(job: MountJob): Promise<void> {
  await serve(job, {
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
  job: MountJob,
  recordPath: string,
): Promise<void> {
  const log = logOf(recordPath);
  let answered = false;
  const say = (message: string) =>
    report(`${new Date().toISOString()} ${message}`);
  try {
    await serve(job, {
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
  fs.rmSync(log, { force: true }); // it ended well: there is nothing to look up
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
  { recordPath, log, say, onReady }: Surroundings,
): Promise<void> {
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEndSignal((signal, again) => {
    // Something else may hang, such as the disk that the container is on.
    if (again) Deno.exit(signalExitCode(signal));
    say(`${signal}: unmounting`);
    asked.resolve(undefined);
  });
  using container = await openSource(job.source, job);
  // Its disposal unmounts, by force where it is in use.
  await using mounted = await mount(container, job.mountpoint, {
    ...parseMountOptions(job.options),
    workers: job.workers,
    onLog: warn,
    onTrace: job.trace ? report : undefined,
  });
  const { mountpoint } = mounted;
  writeRecord(recordPath, {
    ...identify(process.pid)!,
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
    removeRecord(recordPath);
  }
}
