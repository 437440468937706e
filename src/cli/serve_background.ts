import { mountPath } from "../../fuse/mount_container.ts";
import type { Mount } from "../../fuse/mount_handle.ts";
import { keepToThisProcess } from "../../fuse/held_descriptors.ts";
import { findMount, readMounts } from "../../fuse/mountinfo.ts";
import { MoreInitFlag } from "../../fuse/wire/flags.ts";
import { RecordfsError } from "../errors.ts";
import type { BackgroundAnswer } from "./background.ts";
import { jobIdentity } from "./container_identity.ts";
import { Exit, ExitCode } from "./exit.ts";
import type { MountJob } from "./mount_job.ts";
import {
  logOf,
  type MountRecord,
  removeRecord,
  statsOf,
  updateRecord,
  writeRecord,
} from "./mount_records.ts";
import { removeLog } from "./mount_log.ts";
import { keepCounts } from "./mount_stats.ts";
import { identify } from "./processes.ts";
import { isFinal, resume } from "./resume.ts";
import { absolute, type Begun, containerOptions, onEnd } from "./serve.ts";
import { VERSION } from "./version.ts";

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
  keepToThisProcess(begun.held);
  const say = (message: string) =>
    begun.log(`${new Date().toISOString()} ${message}`);
  const serving = { job, path, begun, say };
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEnd(say, () => asked.resolve(undefined));
  const mounted = record === undefined
    ? await begin(serving)
    : await goOn(serving, record);
  const stopCounting = keepCounts(statsOf(path), begun.server);
  const end = await Promise.race([mounted.finished, asked.promise]);
  stopCounting();
  // From here on the mount is to end, whatever happens: no other server is to take over.
  removeRecord(path);
  await mounted[Symbol.asyncDispose]();
  if (end?.failure !== undefined) throw end.failure;
  removeLog(logOf(path)); // it ended well: there is nothing to look up
}

async function begin(serving: Serving): Promise<Mount> {
  const { job, path, begun, say } = serving;
  let mounted: Mount;
  let record: MountRecord;
  try {
    await begun.fresh;
    mounted = await mountPath(
      job.source,
      job.mountpoint,
      containerOptions(job),
      begun.server,
    );
    record = newRecord(serving, mounted);
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
    removeRecord(path);
    await mounted[Symbol.asyncDispose]();
    throw error;
  }
  if (warning === undefined) await makeResumable(serving, record);
  return mounted;
}

async function goOn(serving: Serving, record: MountRecord): Promise<Mount> {
  const { job, path, begun, say } = serving;
  try {
    const mounted = await resume(containerOptions(job), record, begun.server);
    const supervised = record.supervised!;
    updateRecord(path, {
      ...record,
      ...identify(Deno.pid)!,
      version: VERSION,
      supervised: { ...supervised, restarts: supervised.restarts + 1, job },
    });
    say(`${job.source} is served again on ${record.mountpoint}`);
    exitWithThreads(serving);
    return mounted;
  } catch (error) {
    if (isFinal(error)) removeRecord(path);
    throw error;
  }
}

function newRecord(
  { job, path, begun }: Serving,
  { mountpoint }: Mount,
): MountRecord {
  return {
    ...identify(Deno.pid)!,
    source: job.source,
    mountpoint,
    log: logOf(path),
    started: new Date().toISOString(),
    version: VERSION,
    supervised: {
      supervisor: identify(Deno.ppid)!,
      restarts: 0,
      device: findMount(readMounts(), mountpoint)?.device ?? "",
      agreed: begun.server.agreed,
      container: null,
      resumable: false,
      job,
      held: begun.held,
    },
  };
}

/** What keeps another server from taking over from one that dies, if anything. */
function whatIsMissing(
  { held }: Begun,
  { supervised }: MountRecord,
): string | undefined {
  const consequence = "if its server dies, the mount ends";
  if (held.length === 0) return `/dev/fuse cannot be opened: ${consequence}`;
  if (supervised!.agreed.moreFlags & MoreInitFlag.HAS_RESEND) return undefined;
  return `the kernel cannot repeat requests (Linux 6.9 or later can): ${consequence}`;
}

/** Notes what another server needs, after the mount has answered: large datasets have many files. */
async function makeResumable(
  serving: Serving,
  record: MountRecord,
): Promise<void> {
  const { job, path, say } = serving;
  try {
    const container = await jobIdentity(job);
    const supervised = { ...record.supervised!, container, resumable: true };
    updateRecord(path, { ...record, supervised });
    exitWithThreads(serving);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`if the server dies, the mount ends: ${reason}`);
  }
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
