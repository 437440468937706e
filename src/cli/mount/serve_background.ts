import { mountPath } from "../../../fuse/mount_container.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import { keepToThisProcess } from "../../../fuse/server/held_descriptors.ts";
import { MoreInitFlag } from "../../../fuse/wire/flags.ts";
import { RecordfsError } from "../../errors.ts";
import type { BackgroundAnswer } from "./background.ts";
import { jobIdentity } from "./container_identity.ts";
import { Exit, ExitCode } from "../exit.ts";
import type { MountJob } from "./job/mount_job.ts";
import {
  logOf,
  type MountRecord,
  updateRecord,
  writeReason,
  writeRecord,
} from "./mount_records.ts";
import { removeLog } from "./mount_log.ts";
import { identify, type ProcessId, ticksSinceBoot } from "./processes.ts";
import { isFinal, resume } from "./resume.ts";
import { absolute, containersOf } from "./job/job_sources.ts";
import {
  type Begun,
  containerOptions,
  finish,
  newRecord,
  onEnd,
} from "./serve.ts";
import { FINAL_EXIT, SUPERVISOR_PID_VARIABLE } from "./supervisor.ts";
import { VERSION } from "../version.ts";

/** Where a mount's record is, and what stood in it when this process started. */
interface RecordFile {
  readonly path: string;
  readonly record: MountRecord | undefined;
}

/** What the steps of serving work with. */
interface Serving {
  readonly job: MountJob;
  /** Path of the record. */
  readonly path: string;
  readonly begun: Begun;
  readonly say: (message: string) => void;
  /** Aborted when the mount is to end. */
  readonly ending: AbortController;
}

/**
 * What `recordfs mount` leaves in the background: it mounts, or goes on with a mount whose server died,
 * and serves. The first one answers on standard output.
 */
export async function serveInBackground(
  given: MountJob,
  { path, record }: RecordFile,
  begun: Begun,
): Promise<void> {
  const job = absolute(given);
  Deno.chdir("/"); // or it would keep a file system in use
  const { held, counts } = begun;
  keepToThisProcess(counts < 0 ? held : [...held, counts]);
  const say = (message: string) =>
    begun.log(`${new Date().toISOString()} ${message}`);
  const ending = new AbortController();
  const serving = { job, path, begun, say, ending };
  const asked = Promise.withResolvers<undefined>();
  // A service manager tells all of a mount's processes at once, and the supervisor passes it on.
  using _listening = onEnd(say, () => asked.resolve(undefined), ECHO_MS);
  const mounted = record === undefined
    ? await begin(serving)
    : await goOn(serving, record);
  const end = await Promise.race([mounted.finished, asked.promise]);
  // From here on the mount is to end, whatever happens: nobody is to take over.
  ending.abort();
  if (end?.failure !== undefined) {
    if (job.onFailure === "unmount") await finish(path, mounted);
    else writeReason(path, end.failure.message);
    throw end.failure;
  }
  await finish(path, mounted);
  removeLog(logOf(path)); // it ended well: there is nothing to look up
}

/** A second signal counts as the first one's echo for so long, in milliseconds. */
const ECHO_MS = 1000;

async function begin(serving: Serving): Promise<Mount> {
  const { job, path, begun, say } = serving;
  const { server, vacated } = begun;
  let mounted: Mount;
  let record: MountRecord;
  try {
    const beforehand = { started: server, vacate: await vacated };
    mounted = await mountPath(
      containersOf(job),
      job.mountpoint,
      containerOptions(job),
      beforehand,
    );
    record = backgroundRecord(serving, mounted);
    writeRecord(path, record);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    await answer({ error: error.message });
    throw new Exit(ExitCode.FAILED);
  }
  say(`${job.source} is mounted on ${mounted.mountpoint}`);
  const warning = whatIsMissing(begun, record);
  if (warning !== undefined) say(warning);
  try {
    await answer({ ready: true, warning });
  } catch (error) {
    say("nobody waits for this mount any more: it is unmounted");
    await finish(path, mounted);
    throw error;
  }
  await noteContainer(serving, record, warning === undefined);
  return mounted;
}

async function goOn(serving: Serving, before: MountRecord): Promise<Mount> {
  const { job, path, begun, say } = serving;
  try {
    const mounted = await resume(containerOptions(job), before, begun.server);
    const supervised = before.supervised!;
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
    updateRecord(path, record);
    say(`${job.source} is served again on ${record.mountpoint}`);
    exitWithThreads(serving);
    keepSupervised(serving, record);
    return mounted;
  } catch (error) {
    if (!isFinal(error)) throw error;
    const { message } = error as RecordfsError;
    say(message);
    writeReason(path, message);
    throw new Exit(FINAL_EXIT);
  }
}

function backgroundRecord(
  { job, path, begun }: Serving,
  mounted: Mount,
): MountRecord {
  const { server, held, counts } = begun;
  const record = newRecord(job, mounted, {
    supervisor: supervisor() ?? identify(Deno.ppid)!,
    restarts: 0,
    servingTicks: ticksSinceBoot(),
    agreed: server.agreed,
    resumable: false,
    counts: counts < 0 ? null : counts,
    held,
  });
  return { ...record, log: logOf(path) };
}

/** The process that started this one; `undefined` if it has died since. */
function supervisor(): ProcessId | undefined {
  return identify(Number(Deno.env.get(SUPERVISOR_PID_VARIABLE)));
}

/** What keeps another server from taking over from one that dies, if anything. */
function whatIsMissing(
  { held }: Begun,
  { supervised, job }: MountRecord,
): string | undefined {
  const consequence = `if its server dies, the mount ${
    job.onFailure === "dead" ? "is dead" : "ends"
  }`;
  if (held.length === 0) return `/dev/fuse cannot be opened: ${consequence}`;
  if (supervised!.agreed.moreFlags & MoreInitFlag.HAS_RESEND) return undefined;
  return `the kernel cannot repeat requests (Linux 6.9 or later can): ${consequence}`;
}

/**
 * Notes what container is mounted, which another server needs to know, after the mount has answered: large
 * datasets have many files.
 */
async function noteContainer(
  serving: Serving,
  before: MountRecord,
  resumable: boolean,
): Promise<void> {
  const { job, path, say } = serving;
  try {
    const container = await jobIdentity(job);
    const supervised = { ...before.supervised!, resumable };
    const record = { ...before, container, supervised };
    updateRecord(path, record);
    if (!resumable) return;
    exitWithThreads(serving);
    keepSupervised(serving, record);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`if the server dies, another one cannot go on: ${reason}`);
  }
}

/** Sees to it that the mount has a supervisor, for as long as this process serves it. */
async function keepSupervised(
  { path, begun, say, ending }: Serving,
  record: MountRecord,
): Promise<void> {
  // Not imported above: a mount should answer before.
  const { superviseAgain } = await import("./supervise_again.ts");
  await superviseAgain({ path, record, begun, say, signal: ending.signal });
}

/**
 * Ends this process when one of its threads fails: the requests which that had read would wait for ever,
 * since the supervisor holds their descriptor as well; the next server has them repeated.
 */
function exitWithThreads({ begun, say }: Serving): void {
  begun.failed.then((failure) => {
    say(`a thread that serves the mount failed: ${failure}`);
    Deno.exit(ExitCode.FAILED);
  });
}

/** Fails if the command that waits for the answer is gone; the mount then must not stay. */
async function answer(answer: BackgroundAnswer): Promise<void> {
  const line = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
  await Deno.stdout.write(line);
}
