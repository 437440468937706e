import { mountPath } from "../../fuse/mount_container.ts";
import type { Mount } from "../../fuse/mount_handle.ts";
import { keepToThisProcess } from "../../fuse/held_descriptors.ts";
import { findMount, readMounts } from "../../fuse/mountinfo.ts";
import { MoreInitFlag } from "../../fuse/wire/flags.ts";
import { RecordfsError } from "../errors.ts";
import type { BackgroundAnswer } from "./background.ts";
import { containerIdentity } from "./container_identity.ts";
import { Exit, ExitCode } from "./exit.ts";
import { report } from "./messages.ts";
import type { MountJob } from "./mount_job.ts";
import {
  logOf,
  type MountRecord,
  removeFile,
  updateRecord,
  writeRecord,
} from "./mount_records.ts";
import { identify } from "./processes.ts";
import { isFinal, resume } from "./resume.ts";
import { absolute, type Begun, containerOptions, onEnd } from "./serve.ts";
import { VERSION } from "./version.ts";

/** Where a mount's record is, and what stood in it when this process started. */
interface RecordFile {
  readonly path: string;
  readonly record: MountRecord | undefined;
}

/** A mount that this process serves in the background. */
interface BackgroundMount {
  readonly mounted: Mount;
  record: MountRecord;
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
  const asked = Promise.withResolvers<undefined>();
  using _listening = onEnd(say, () => asked.resolve(undefined));
  const mount = record === undefined
    ? await begin(job, path, begun)
    : await goOn(job, path, record, begun);
  const end = await Promise.race([mount.mounted.finished, asked.promise]);
  // From here on the mount is to end, whatever happens: no other server is to take over.
  removeFile(path);
  await mount.mounted[Symbol.asyncDispose]();
  if (end?.failure !== undefined) throw end.failure;
  removeFile(logOf(path)); // it ended well: there is nothing to look up
}

function say(message: string): void {
  report(`${new Date().toISOString()} ${message}`);
}

async function begin(
  job: MountJob,
  path: string,
  begun: Begun,
): Promise<BackgroundMount> {
  let mount: BackgroundMount;
  try {
    await begun.fresh;
    const mounted = await mountPath(
      job.source,
      job.mountpoint,
      containerOptions(job),
      begun.server,
    );
    mount = { mounted, record: newRecord(job, path, mounted, begun) };
    writeRecord(path, mount.record);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    await answer({ error: error.message });
    throw new Exit(ExitCode.FAILED);
  }
  say(`${job.source} is mounted on ${mount.mounted.mountpoint}`);
  const warning = whatIsMissing(begun, mount.record);
  if (warning !== undefined) say(warning);
  try {
    await answer({ ready: true, warning });
  } catch (error) {
    say("nobody waits for this mount any more: it is unmounted");
    removeFile(path);
    await mount.mounted[Symbol.asyncDispose]();
    throw error;
  }
  if (warning === undefined) await makeResumable(job, path, mount, begun);
  return mount;
}

async function goOn(
  job: MountJob,
  path: string,
  record: MountRecord,
  begun: Begun,
): Promise<BackgroundMount> {
  try {
    const mounted = await resume(containerOptions(job), record, begun.server);
    const supervised = record.supervised!;
    const now: MountRecord = {
      ...record,
      ...identify(Deno.pid)!,
      version: VERSION,
      supervised: { ...supervised, restarts: supervised.restarts + 1, job },
    };
    updateRecord(path, now);
    say(`${job.source} is served again on ${record.mountpoint}`);
    exitWithThreads(begun);
    return { mounted, record: now };
  } catch (error) {
    if (isFinal(error)) removeFile(path);
    throw error;
  }
}

function newRecord(
  job: MountJob,
  path: string,
  { mountpoint }: Mount,
  { server }: Begun,
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
      agreed: server.agreed,
      container: null,
      resumable: false,
      job,
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
  job: MountJob,
  path: string,
  mount: BackgroundMount,
  begun: Begun,
): Promise<void> {
  let container: string;
  try {
    container = await containerIdentity(job.source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return say(`if the server dies, the mount ends: ${reason}`);
  }
  const { record } = mount;
  const supervised = { ...record.supervised!, container, resumable: true };
  mount.record = { ...record, supervised };
  updateRecord(path, mount.record);
  exitWithThreads(begun);
}

/**
 * Ends this process when one of its threads fails: the requests which that had read would wait for ever,
 * since the supervisor holds their descriptor as well; the next server has them repeated.
 */
function exitWithThreads({ failed }: Begun): void {
  failed.then((failure) => {
    say(`a thread that serves the mount failed: ${failure}`);
    Deno.exit(ExitCode.FAILED);
  });
}

/** Fails if the command that waits for the answer is gone; the mount then must not stay. */
async function answer(answer: BackgroundAnswer): Promise<void> {
  const line = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
  await Deno.stdout.write(line);
}
