import { setTimeout } from "node:timers/promises";
import {
  closeHeld,
  openCounts,
  openHeld,
} from "../../../fuse/server/held_descriptors.ts";
import { DEFAULT_WORKERS } from "../../../fuse/limits.ts";
import { RecordfsError } from "../../base/errors.ts";
import { Exit, UsageError } from "../exit.ts";
import { warn } from "../messages.ts";
import type { MountJob } from "./job/mount_job.ts";
import { type MemoryLimit, memoryLimit, wantOfMemory } from "./memory_limit.ts";
import type { MountFiles } from "./mount_files.ts";
import {
  type MountAt,
  mountAt,
  newMountFiles,
  pruneRecords,
  readRecord,
  writeHidden,
} from "./mount_records.ts";
import { findDead, removeDead } from "./mount_state.ts";
import { signalChild } from "./processes.ts";
import { Opening } from "../terminal/opening.ts";
import {
  type EndSignal,
  onEndSignal,
  signalExitCode,
} from "../terminal/signals.ts";
import { PATIENCE_VARIABLE, startSupervisor } from "./supervisor.ts";

/** A line that the process in the background may write to its standard output while it opens what lies on a server. */
export interface BackgroundProgress {
  /** How many bytes. */
  readonly fetched: number;
}

/** The last line that it writes there. */
export type BackgroundAnswer = {
  readonly ready: true;
  /** What of the container is not shown, and what the mount can't promise. */
  readonly warnings: readonly string[];
} | { readonly error: string };

/** Milliseconds after which a process that was asked to end is asked again. */
const END_MS = 1000;
/** Lines of the log that are shown when the process ended without an answer. */
const LAST_LINES = 5;
/** Bytes that those are looked for in. */
const LOG_END = 1 << 16;

/**
 * Mounts in a process of its own, which goes on when this one has ended. Another process holds the
 * mount's descriptors, and replaces that one if it dies.
 *
 * @returns When the mount answers.
 * @throws {RecordfsError} If it could not be mounted; the message is that process's.
 */
export async function mountInBackground(job: MountJob): Promise<void> {
  const files = newMountFiles();
  let cause: EndSignal | undefined;
  // Before there is a process, so that there is always someone to end it.
  using _listening = onEndSignal((signal, again) => {
    cause = signal;
    // Asked for the first time, it unmounts what it may have mounted; then all of its session go.
    if (again) signalChild(-child.pid, "SIGKILL");
    else signalChild(child.pid, "SIGTERM");
  });
  checkPatience();
  await warnOfCache(job);
  const memory = memoryLimit();
  const child = start(job, files);
  const before = mountAt(job.mountpoint); // it takes the child some time to come to that
  pruneRecords();
  const answer = await answerOf(child);
  if (answer === undefined || "error" in answer) {
    files.remove("hidden");
  }
  if (answer === undefined) {
    await child.status;
    await removeFailed(job.mountpoint, before, files);
    if (cause !== undefined) {
      files.remove("log");
      throw new Exit(signalExitCode(cause));
    }
    throw new RecordfsError("server", await obituary(child, files, memory), {
      path: files.path("log"),
    });
  }
  if ("error" in answer) {
    files.remove("log");
    throw new RecordfsError("server", answer.error);
  }
  for (const warning of answer.warnings) warn(warning);
  if (cause !== undefined) {
    // Told to end while the mount was made: the signal was passed on, and the mount will not stay.
    await endHeard(child);
    child.unref();
    throw new Exit(signalExitCode(cause));
  }
  child.unref();
}

/** Warns of a cache that is not used: the process in the background says it in its log alone. */
async function warnOfCache({ remote }: MountJob): Promise<void> {
  if (remote === undefined || remote.cache === false) return;
  const [{ CacheRoot }, { NotTrustedError }] = await Promise.all([
    import("../../io/remote/cache/cache_root.ts"),
    import("../../io/directories/trust.ts"),
  ]);
  const { cacheDir: directory, cacheShared: shared } = remote;
  const root = new CacheRoot({ directory, shared }, warn);
  try {
    root.open()?.[Symbol.dispose]();
  } catch (error) {
    if (error instanceof NotTrustedError) root.warn(error);
  }
}

/** Asks a process to end once more that was asked and goes on: a shell that has just forked loses signals. */
async function endHeard(child: Deno.ChildProcess): Promise<void> {
  const patience = new AbortController();
  const isOver = await Promise.race([
    child.status.then(() => true),
    setTimeout(END_MS, false, { signal: patience.signal }).catch(() => false),
  ]);
  patience.abort();
  if (!isOver) signalChild(child.pid, "SIGTERM");
}

/**
 * Removes a dead mount that a server has left which died between mounting and answering; not one from before,
 * which it has not come to take the place of.
 */
async function removeFailed(
  mountpoint: string,
  before: MountAt | undefined,
  files: MountFiles,
): Promise<void> {
  const dead = await findDead(mountpoint);
  if (dead === undefined) return;
  const isOurs = readRecord(files) !== undefined ||
    dead.entry.device !== before?.entry.device ||
    // Its device may have become another one's; its record goes before.
    before.records.some(({ files }) => readRecord(files) === undefined);
  if (isOurs) await removeDead(dead);
}

/** Whether the time until a mount is given up can be. */
function checkPatience(): void {
  const text = Deno.env.get(PATIENCE_VARIABLE);
  if (text === undefined || /^[1-9][0-9]{0,8}$/.test(text)) return;
  throw new UsageError(
    `${PATIENCE_VARIABLE}=${text}: it must be a whole number of seconds, at least 1`,
  );
}

function start(job: MountJob, files: MountFiles): Deno.ChildProcess {
  files.create("log");
  writeHidden(files, job);
  const held = openHeld(job.workers ?? DEFAULT_WORKERS);
  const counts = openCounts();
  try {
    return startSupervisor({ job, files, held, counts });
  } finally {
    closeHeld([...held, counts]);
  }
}

/** The process's answer, or `undefined` if it ended without one. Until then it is shown what it fetches. */
async function answerOf(
  { stdout }: Deno.ChildProcess,
): Promise<BackgroundAnswer | undefined> {
  using opening = new Opening();
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) { // left early, it is closed
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const said = JSON.parse(line) as BackgroundAnswer | BackgroundProgress;
      if (!("fetched" in said)) return said;
      opening.update(said.fetched);
    }
  }
  return undefined;
}

async function obituary(
  child: Deno.ChildProcess,
  files: MountFiles,
  memory: MemoryLimit,
): Promise<string> {
  const { code, signal } = await child.status;
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const log = files.path("log");
  const end = new TextDecoder().decode(files.readLogEnd(LOG_END));
  const lines = end.trimEnd().split("\n");
  const last = lines.slice(-LAST_LINES).join(" / ");
  return `The process in the background ended ${how} before the mount ` +
    `answered; ${
      last === ""
        ? `its log, ${log}, is empty`
        : `its log, ${log}, ends: ${last}`
    }${wantOfMemory(signal, memory)}`;
}
