import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { libc } from "../../fuse/libc.ts";
import { RecordfsError } from "../errors.ts";
import { Exit } from "./exit.ts";
import { logOf, newRecordPath } from "./mount_records.ts";
import { type EndSignal, onEndSignal, signalExitCode } from "./signals.ts";

/** What to mount where. */
export interface MountJob {
  /** Absolute path of the container. */
  readonly source: string;
  /** Absolute path. */
  readonly mountpoint: string;
  /** The list after `-o`. */
  readonly options: string;
  readonly format: string | undefined;
  readonly ext: string | undefined;
  readonly trace: boolean;
  /** Threads that serve the mount, unless the default is to hold. */
  readonly workers: number | undefined;
}

/** The one line that the process in the background writes to its standard output. */
export type BackgroundAnswer = { readonly ready: true } | {
  readonly error: string;
};

/** `F_SETFD` and `FD_CLOEXEC` of fcntl(2), from `asm-generic/fcntl.h`. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** Lines of the log that are shown when the process ended without an answer. */
const LAST_LINES = 5;

/**
 * Mounts in a process of its own, which goes on when this one has ended.
 *
 * @returns When the mount answers.
 * @throws {RecordfsError} If it could not be mounted; the message is that process's.
 */
export async function mountInBackground(job: MountJob): Promise<void> {
  const recordPath = newRecordPath();
  const log = logOf(recordPath);
  let cause: EndSignal | undefined;
  // Before there is a process, so that there is always someone to end it.
  using _listening = onEndSignal((signal, again) => {
    cause = signal;
    // Asked for the first time, it unmounts what it may have mounted. (`child.kill` would send one
    // signal only.)
    sendSignal(child.pid!, again ? "SIGKILL" : "SIGTERM");
  });
  const child = start(job, recordPath, log);
  const answer = await firstLine(child);
  if (answer === undefined) {
    if (cause !== undefined) {
      fs.rmSync(log, { force: true });
      throw new Exit(signalExitCode(cause));
    }
    throw new RecordfsError("server", await obituary(child, log), {
      path: log,
    });
  }
  if ("error" in answer) {
    fs.rmSync(log, { force: true });
    throw new RecordfsError("server", answer.error);
  }
  child.stdout?.destroy();
  child.unref();
  // Told to end while the mount was made: the signal was passed on, and the mount will not stay.
  if (cause !== undefined) throw new Exit(signalExitCode(cause));
}

function start(job: MountJob, recordPath: string, log: string): ChildProcess {
  const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = fs.constants;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND;
  const logFd = fs.openSync(log, flags, 0o600);
  closeOnExec();
  try {
    return spawn(Deno.execPath(), [
      ...thisProgram(),
      "mount",
      "--background",
      recordPath,
      ...jobArguments(job),
    ], {
      detached: true, // a session of its own: the terminal's end is not its end
      cwd: "/", // or it would keep a file system in use
      stdio: ["ignore", "pipe", logFd],
    });
  } finally {
    fs.closeSync(logFd);
  }
}

/**
 * Has what this process inherited beyond standard input, output and error end with it: a pipe or a
 * lock of the caller's would otherwise stay open as long as the mount.
 */
function closeOnExec(): void {
  for (const name of fs.readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/** How to run this program again. Mounting takes FFI, and so everything: `-A` gives nothing away. */
function thisProgram(): string[] {
  return Deno.build.standalone ? [] : ["run", "-A", Deno.mainModule];
}

function jobArguments(job: MountJob): string[] {
  const args: string[] = [];
  if (job.options !== "") args.push("-o", job.options);
  if (job.format !== undefined) args.push(`--format=${job.format}`);
  if (job.ext !== undefined) args.push(`--ext=${job.ext}`);
  if (job.trace) args.push("--trace");
  if (job.workers !== undefined) args.push(`--workers=${job.workers}`);
  return [...args, "--", job.source, job.mountpoint];
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
  child: ChildProcess,
): Promise<BackgroundAnswer | undefined> {
  let text = "";
  for await (const chunk of child.stdout!.setEncoding("utf8")) {
    text += chunk;
    const end = text.indexOf("\n");
    if (end >= 0) return JSON.parse(text.slice(0, end)) as BackgroundAnswer;
  }
  return undefined;
}

async function obituary(child: ChildProcess, log: string): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once("exit", resolve));
  }
  const how = child.signalCode === null
    ? `with exit code ${child.exitCode}`
    : `by ${child.signalCode}`;
  const lines = fs.readFileSync(log, "utf8").trimEnd().split("\n");
  const last = lines.slice(-LAST_LINES).join(" / ");
  return `The process in the background ended ${how} before the mount ` +
    `answered; ${
      last === "" ? `its log, ${log}, is empty` : `${log} ends: ${last}`
    }`;
}
