import { closeHeld, openHeld } from "../../fuse/held_descriptors.ts";
import { libc } from "../../fuse/libc.ts";
import { DEFAULT_WORKERS } from "../../fuse/limits.ts";
import { RecordfsError } from "../errors.ts";
import { absolutePath } from "./absolute_path.ts";
import { Exit } from "./exit.ts";
import { warn } from "./messages.ts";
import type { MountJob } from "./mount_job.ts";
import {
  logOf,
  newRecordPath,
  pruneRecords,
  removeFile,
} from "./mount_records.ts";
import { removeStale } from "./mount_state.ts";
import { type EndSignal, onEndSignal, signalExitCode } from "./signals.ts";
import type { Shuffle } from "./shuffle_option.ts";
import { SUPERVISOR, SUPERVISOR_VARIABLE } from "./supervisor.ts";

/** The one line that the process in the background writes to its standard output. */
export type BackgroundAnswer = {
  readonly ready: true;
  /** What the mount can't promise. */
  readonly warning?: string | undefined;
} | { readonly error: string };

/** `F_SETFD` and `FD_CLOEXEC` of fcntl(2), from `asm-generic/fcntl.h`. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** Descriptor of standard error. */
const STDERR = 2;

/** Lines of the log that are shown when the process ended without an answer. */
const LAST_LINES = 5;

/**
 * Mounts in a process of its own, which goes on when this one has ended. Another process holds the
 * mount's descriptors, and replaces that one if it dies.
 *
 * @returns When the mount answers.
 * @throws {RecordfsError} If it could not be mounted; the message is that process's.
 */
export async function mountInBackground(given: MountJob): Promise<void> {
  const job = {
    ...given,
    source: absolutePath(given.source),
    mountpoint: absolutePath(given.mountpoint),
    subset: given.subset === undefined ? undefined : absolutePath(given.subset),
  };
  const recordPath = newRecordPath();
  const log = logOf(recordPath);
  let cause: EndSignal | undefined;
  // Before there is a process, so that there is always someone to end it.
  using _listening = onEndSignal((signal, again) => {
    cause = signal;
    // Asked for the first time, it unmounts what it may have mounted; then all of its session go.
    if (again) sendSignal(-child.pid, "SIGKILL");
    else sendSignal(child.pid, "SIGTERM");
  });
  const child = start(job, recordPath, log);
  pruneRecords();
  const answer = await firstLine(child);
  if (answer === undefined) {
    await child.status;
    await removeStale(job.mountpoint); // it may have died between mounting and answering
    if (cause !== undefined) {
      removeFile(log);
      throw new Exit(signalExitCode(cause));
    }
    throw new RecordfsError("server", await obituary(child, log), {
      path: log,
    });
  }
  if ("error" in answer) {
    removeFile(log);
    throw new RecordfsError("server", answer.error);
  }
  if (answer.warning !== undefined) warn(answer.warning);
  child.unref();
  // Told to end while the mount was made: the signal was passed on, and the mount will not stay.
  if (cause !== undefined) throw new Exit(signalExitCode(cause));
}

function start(
  job: MountJob,
  recordPath: string,
  log: string,
): Deno.ChildProcess {
  Deno.writeFileSync(log, new Uint8Array(0), { createNew: true, mode: 0o600 });
  closeOnExec();
  const held = openHeld(job.workers ?? DEFAULT_WORKERS);
  try {
    return new Deno.Command("/bin/sh", {
      args: [
        "-c",
        `eval "$${SUPERVISOR_VARIABLE}"`,
        "recordfs", // what it is called
        recordPath,
        job.mountpoint,
        ...serverCommand(job, recordPath, held),
      ],
      env: { [SUPERVISOR_VARIABLE]: SUPERVISOR },
      cwd: "/", // or it would keep a file system in use
      detached: true, // a session of its own: the terminal's end is not its end
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
  } finally {
    closeHeld(held);
  }
}

/** The command line that serves a mount through descriptors which its process inherits. */
export function serverCommand(
  job: MountJob,
  recordPath: string,
  held: readonly number[],
): string[] {
  return [
    Deno.execPath(),
    ...thisProgram(),
    "mount",
    `--background=${recordPath}`,
    `--held=${held.join(",")}`,
    ...jobArguments(job),
  ];
}

/**
 * Has what this process inherited beyond standard input, output and error end with it: a pipe or a
 * lock of the caller's would otherwise stay open as long as the mount.
 */
function closeOnExec(): void {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > STDERR) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/** How to run this program again. Mounting takes FFI, and so everything: `-A` gives nothing away. */
function thisProgram(): string[] {
  if (Deno.build.standalone) return [];
  // A mount loads no package, and so needs no import map, whose reading takes a while.
  return ["run", "-A", "--no-config", "--no-lock", Deno.mainModule];
}

function jobArguments(job: MountJob): string[] {
  const args: string[] = [];
  if (job.options !== "") args.push("-o", job.options);
  if (job.format !== undefined) args.push(`--format=${job.format}`);
  if (job.ext !== undefined) args.push(`--ext=${job.ext}`);
  if (job.decoded) args.push("--decoded");
  if (job.subset !== undefined) args.push(`--subset=${job.subset}`);
  if (job.shuffle !== undefined) args.push(...shuffleArguments(job.shuffle));
  if (job.trace) args.push("--trace");
  if (job.workers !== undefined) args.push(`--workers=${job.workers}`);
  return [...args, "--", job.source, job.mountpoint];
}

function shuffleArguments(
  { seed, firstEpoch, epochs }: Shuffle,
): readonly string[] {
  const last = firstEpoch + epochs - 1;
  return [`--shuffle=${seed}`, `--epoch=${firstEpoch}-${last}`];
}

function sendSignal(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // it has ended
  }
}

/** The process's answer, or `undefined` if it ended without one. */
async function firstLine(
  { stdout }: Deno.ChildProcess,
): Promise<BackgroundAnswer | undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) { // left early, it is closed
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return JSON.parse(text.slice(0, end)) as BackgroundAnswer;
  }
  return undefined;
}

async function obituary(
  child: Deno.ChildProcess,
  log: string,
): Promise<string> {
  const { code, signal } = await child.status;
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const lines = (await Deno.readTextFile(log)).trimEnd().split("\n");
  const last = lines.slice(-LAST_LINES).join(" / ");
  return `The process in the background ended ${how} before the mount ` +
    `answered; ${
      last === "" ? `its log, ${log}, is empty` : `${log} ends: ${last}`
    }`;
}
