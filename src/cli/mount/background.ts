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

/** Line that the background process may write to its standard output while it opens a remote container. */
export interface BackgroundProgress {
  readonly fetched: number;
}

/** Last line that it writes there. */
export type BackgroundReport = {
  readonly ready: true;
  /** Skipped parts of the container, and promises that the mount cannot keep. */
  readonly warnings: readonly string[];
} | { readonly error: string };

/** Milliseconds after which SIGTERM is repeated. */
const END_MS = 1000;
/** Lines of the log shown if the process ended without an answer. */
const LAST_LINES = 5;
/** Bytes at the end of the log in which to look for them. */
const LOG_END = 1 << 16;

/**
 * Mounts in a separate process that outlives this one. A supervisor process holds the mount's descriptors, and replaces
 * the server if it dies. Returns when the mount answers, or throws the error message of that process.
 */
export async function mountInBackground(job: MountJob): Promise<void> {
  const files = newMountFiles();
  let cause: EndSignal | undefined;
  // Listen before starting the process, so that there is always someone to end it.
  using _listening = onEndSignal((signal, again) => {
    cause = signal;
    // The first signal lets it unmount what it may have mounted; the second kills its whole session.
    if (again) signalChild(-child.pid, "SIGKILL");
    else signalChild(child.pid, "SIGTERM");
  });
  checkPatience();
  await warnOfCache(job);
  const memory = memoryLimit();
  const child = start(job, files);
  const before = mountAt(job.mountpoint); // the child takes a while before it mounts
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
    // Interrupted while mounting: the signal was passed on, and the mount must not stay.
    await endHeard(child);
    child.unref();
    throw new Exit(signalExitCode(cause));
  }
  child.unref();
}

/** Warns if the cache cannot be used: the background process reports that only in its log. */
async function warnOfCache({ remote }: MountJob): Promise<void> {
  if (remote === undefined || remote.cache === false) return;
  const [{ CacheRoot }, { NotTrustedError }] = await Promise.all([
    import("../../io/remote/cache/cache_root.ts"),
    import("../../io/dirfd/trust.ts"),
  ]);
  const { cacheDir: directory, cacheShared: shared } = remote;
  const root = new CacheRoot({ directory, shared }, warn);
  try {
    root.open()?.[Symbol.dispose]();
  } catch (error) {
    if (error instanceof NotTrustedError) root.warn(error);
  }
}

/** Repeats SIGTERM if the process does not end: a shell that has just forked loses signals. */
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
 * Removes the dead mount of a server that died between mounting and answering, but not an older one that it has not
 * replaced yet.
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
    // The device number may have been reused; the record is removed before that.
    before.records.some(({ files }) => readRecord(files) === undefined);
  if (isOurs) await removeDead(dead);
}

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

/** Returns the process's answer, or `undefined` if it ended without one. Shows the progress until then. */
async function answerOf(
  { stdout }: Deno.ChildProcess,
): Promise<BackgroundReport | undefined> {
  using opening = new Opening();
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) { // leaving the loop closes it
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const said = JSON.parse(line) as BackgroundReport | BackgroundProgress;
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
  return `Cannot mount: the process in the background ended ${how} before the mount ` +
    `answered; ${
      last === ""
        ? `its log, ${log}, is empty`
        : `its log, ${log}, ends: ${last}`
    }${wantOfMemory(signal, memory)}`;
}
