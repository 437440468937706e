import { mountPath, resumePath } from "../../../fuse/mount_container.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import { findMount, readMounts } from "../../../fuse/mounting/mountinfo.ts";
import { keepToThisProcess } from "../../../fuse/server/held_descriptors.ts";
import type { Server } from "../../../fuse/server/server.ts";
import { RecordfsError } from "../../base/errors.ts";
import { Exit, ExitCode } from "../exit.ts";
import { Opening } from "../terminal/opening.ts";
import { onEndSignal, signalExitCode } from "../terminal/signals.ts";
import { VERSION } from "../version.ts";
import type { BackgroundProgress, BackgroundReport } from "./background.ts";
import { RateLimitedLog, warn } from "../messages.ts";
import {
  containerOptions,
  containersOf,
  WARNINGS_HINT,
} from "./job/job_container.ts";
import type { MountJob } from "./job/mount_job.ts";
import type { MountFiles } from "./mount_files.ts";
import {
  type MountRecord,
  pruneRecords,
  readRecord,
  removeRecord,
  updateRecord,
  whyNoOtherServer,
  writeReason,
  writeRecord,
} from "./mount_records.ts";
import { identify, type ProcessId, ticksSinceBoot } from "./processes.ts";
import { FINAL_EXIT, SUPERVISOR_PID_VARIABLE } from "./supervisor.ts";
import { flagMessageOf } from "../flag_words.ts";

/** What this process serves, with everything that was started before mounting. */
export interface Serving {
  readonly job: MountJob;
  /** Record and other files of the mount; `undefined` in the foreground if they cannot be stored. */
  readonly files: MountFiles | undefined;
  /** The record when this process started: it resumes a mount whose server died. */
  readonly record: MountRecord | undefined;
  /** Whether this is the process that `recordfs mount` leaves in the background. */
  readonly isBackground: boolean;
  readonly server: Server;
  /** Removes a dead mount from the mount point; rejects if there is one that must not be removed. */
  readonly vacated: Promise<(() => Promise<void>) | undefined>;
  /** Descriptors of /dev/fuse opened by the supervisor; none without one. */
  readonly held: readonly number[];
  /** Descriptor of the counter file, or -1. */
  readonly counts: number;
  readonly failed: Promise<string>;
  readonly say: (message: string) => void;
  /** Aborted when the mount is to end. */
  readonly ending: AbortController;
}

/** Time in which a second signal counts as an echo of the first in the background, in milliseconds. */
const ECHO_MS = 1000;
/** Interval of progress reports to the command in the foreground, in milliseconds. */
const TELL_EVERY = 250;

/**
 * Mounts, or resumes a mount whose server died, and serves until it is unmounted or a signal arrives. In the
 * background, the first server of a mount answers on standard output.
 */
export async function serve(serving: Serving): Promise<void> {
  const { job, files, record, isBackground } = serving;
  if (isBackground) {
    Deno.chdir("/"); // otherwise this process would keep a file system busy
    keepToThisProcess([...serving.held, serving.counts]);
  } else if (files !== undefined) pruneRecords();
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEnd(serving, () => asked.resolve(undefined));
  const mounted = record === undefined
    ? await begin(serving)
    : await goOn(serving, record);
  const end = await Promise.race([mounted.finished, asked.promise]);
  // From here on the mount is to end in any case: no server may take over.
  serving.ending.abort();
  if (end?.failure !== undefined) {
    if (job.onFailure === "unmount") await finish(files, mounted);
    else if (files !== undefined) {
      writeReason(files, flagMessageOf(end.failure));
    }
    throw end.failure;
  }
  await finish(files, mounted);
  if (isBackground) files?.remove("log", "log.1"); // ended well: the log is not needed
}

/** Unmounts, with force if the mount is in use. */
async function finish(
  files: MountFiles | undefined,
  mounted: Mount,
): Promise<void> {
  if (files !== undefined) removeRecord(files);
  await mounted[Symbol.asyncDispose]();
}

/** Calls `listener` on the first signal to end. Exits at once on another one. */
function onEnd(
  { say, isBackground }: Serving,
  listener: () => void,
): Disposable {
  // A service manager signals all processes of a mount at once, and the supervisor passes its signal on.
  const echoMs = isBackground ? ECHO_MS : 0;
  let first = 0;
  return onEndSignal((signal, again) => {
    if (again) {
      // Unmounting may hang, for example on the disk of the container.
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

async function begin(serving: Serving): Promise<Mount> {
  const { job, files, isBackground, server, vacated, say } = serving;
  let mounted: Mount | undefined;
  let record: MountRecord;
  using opening = isBackground ? new OpeningElsewhere() : new Opening();
  const warnings: string[] = [];
  const tell = (line: string) => {
    warn(line);
    warnings.push(line);
  };
  const odd = new RateLimitedLog(tell, {}, WARNINGS_HINT);
  // Warnings during opening are rate-limited; later ones are logged directly.
  let onWarning = (message: string) => odd.add(message);
  try {
    mounted = await mountPath(
      await containersOf(job, opening),
      job.mountpoint,
      containerOptions(job, (message) => onWarning(message)),
      { started: server, vacate: await vacated },
    );
    odd.end();
    onWarning = warn;
    opening[Symbol.dispose]();
    record = newRecord(serving, mounted);
    if (files !== undefined) writeRecord(files, record);
  } catch (error) {
    if (mounted !== undefined) await finish(files, mounted);
    if (!isBackground || !(error instanceof RecordfsError)) throw error;
    await answer({ error: flagMessageOf(error) });
    throw new Exit(ExitCode.FAILED);
  }
  const hint = isBackground ? "" : "; Ctrl-C unmounts";
  say(`${job.source} is mounted on ${mounted.mountpoint}${hint}`);
  const warning = isBackground ? whatIsMissing(record) : undefined;
  if (warning !== undefined) {
    say(warning);
    warnings.push(warning);
  }
  try {
    if (isBackground) await answer({ ready: true, warnings });
  } catch (error) {
    say("the waiting command has ended: unmounting");
    await finish(files, mounted);
    throw error;
  }
  noteContainer(serving, record, isBackground && warning === undefined);
  return mounted;
}

async function goOn(serving: Serving, before: MountRecord): Promise<Mount> {
  const { job, server, say } = serving;
  const files = serving.files!;
  const { mountpoint, device, job: { sources } } = before;
  const supervised = before.supervised!;
  try {
    await expectSame(before);
    // Options for reaching servers may have changed.
    const containers = await containersOf({ ...job, sources }, {
      believesCache: true,
    });
    const mounted = await resumePath(containers, mountpoint, {
      kept: { device, agreed: supervised.agreed },
      options: containerOptions(job),
      server,
    });
    const record = {
      ...before,
      ...identify(Deno.pid)!,
      version: VERSION,
      job,
      supervised: {
        ...supervised,
        supervisor: supervisor() ?? supervised.supervisor,
        restarts: supervised.restarts + 1,
        servingTicks: ticksSinceBoot(),
      },
    };
    updateRecord(files, record);
    say(`${job.source} is served again on ${mountpoint}`);
    keepServed(serving, record);
    return mounted;
  } catch (error) {
    server.abandon();
    // Errors of the container or the system would recur with every server.
    if (!(error instanceof RecordfsError) || error.code === "server") {
      throw error;
    }
    const reason = flagMessageOf(error);
    say(reason);
    writeReason(files, reason);
    throw new Exit(FINAL_EXIT);
  }
}

/** @throws {MountError} If the container is not the mounted one. */
async function expectSame({ job, container }: MountRecord): Promise<void> {
  let now: string | undefined;
  try {
    now = await identityOf(job);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (now === container) return;
  const { source, sources, subset } = job;
  throw new MountError(
    "changed",
    `Cannot go on serving ${source}: ${
      sources.length === 1 ? "it" : "one of them"
    } ${subset === undefined ? "" : `or its index file ${subset} `}was ${
      now === undefined ? "removed" : "changed or replaced"
    } since it was mounted, and the kernel has cached it. Mount it again`,
    { path: source },
  );
}

/** Imports lazily, so that the mount answers sooner. */
async function identityOf(job: MountJob): Promise<string> {
  const { jobIdentity } = await import("./container_identity.ts");
  return await jobIdentity(job);
}

function newRecord(
  { job, files, isBackground, server, held, counts }: Serving,
  { mountpoint }: Mount,
): MountRecord {
  const now = ticksSinceBoot();
  return {
    ...identify(Deno.pid)!,
    source: job.source,
    mountpoint,
    log: isBackground ? files!.path("log") : null,
    started: new Date().toISOString(),
    mountedTicks: now,
    version: VERSION,
    device: findMount(readMounts(), mountpoint)?.device ?? "",
    job,
    container: null,
    supervised: isBackground
      ? {
        supervisor: supervisor() ?? identify(Deno.ppid)!,
        restarts: 0,
        servingTicks: now,
        agreed: server.agreed,
        resumable: false,
        counts: counts < 0 ? null : counts,
        held,
      }
      : null,
  };
}

/** Returns the process that started this one; `undefined` if it has died. */
function supervisor(): ProcessId | undefined {
  return identify(Number(Deno.env.get(SUPERVISOR_PID_VARIABLE)));
}

/** Warning why another server cannot take over, if so. */
function whatIsMissing({ supervised, job }: MountRecord): string | undefined {
  const reason = whyNoOtherServer(supervised!);
  if (reason === undefined) return undefined;
  const end = job.onFailure === "dead" ? "is dead" : "ends";
  return `${reason}: if its server dies, the mount ${end}`;
}

/**
 * Records the container's identity, which `mounts` and later servers need. Runs after the mount has answered, since
 * large datasets have many files.
 */
async function noteContainer(
  serving: Serving,
  before: MountRecord,
  resumable: boolean,
): Promise<void> {
  const { job, files, isBackground, say } = serving;
  if (files === undefined) return;
  try {
    const container = await identityOf(job);
    if (readRecord(files) === undefined) return; // the mount has ended
    const supervised = before.supervised && { ...before.supervised, resumable };
    const record = { ...before, container, supervised };
    updateRecord(files, record);
    if (resumable) keepServed(serving, record);
  } catch (error) {
    // The container is already being changed, or the disk is full.
    const reason = flagMessageOf(error);
    if (isBackground) {
      say(`if the server dies, no other can take over: ${reason}`);
    }
  }
}

/** Ensures that another server can take over while this process serves the mount. */
async function keepServed(
  serving: Serving,
  record: MountRecord,
): Promise<void> {
  // Requests read by a dead thread would wait for ever, since the supervisor also holds its descriptor. The next
  // server has them resent.
  serving.failed.then((failure) => {
    serving.say(`a thread that serves the mount failed: ${failure}`);
    Deno.exit(ExitCode.FAILED);
  });
  // Imported lazily, so that the mount answers sooner.
  const { superviseAgain } = await import("./supervise_again.ts");
  await superviseAgain(serving, record);
}

/** Progress of opening, reported to a waiting command that shows it on its terminal. */
class OpeningElsewhere extends Opening {
  #told = -Infinity; // the first report says that the container is remote

  constructor() {
    super(false);
  }

  override update(bytes: number): void {
    super.update(bytes);
    const now = performance.now();
    if (now - this.#told < TELL_EVERY) return;
    this.#told = now;
    try {
      Deno.stdout.writeSync(lineOf({ fetched: bytes }));
    } catch {
      // The command is gone; the answer will fail too.
    }
  }
}

/** Answers the waiting command. Fails if it is gone; the mount must then not stay. */
async function answer(answer: BackgroundReport): Promise<void> {
  await Deno.stdout.write(lineOf(answer));
}

function lineOf(said: BackgroundReport | BackgroundProgress): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(said)}\n`);
}
