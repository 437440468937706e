import { libc } from "../../../fuse/libc.ts";
import { readFull } from "../../io/dirfd/directory.ts";
import { openDescribedFile } from "../../io/dirfd/file_by_descriptor.ts";
import { errnoOf, lastError } from "../../io/libc/libc.ts";

/** Identifies a process: process ids are reused, but not together with the start time. */
export interface ProcessId {
  readonly pid: number;
  /** Start time in clock ticks since boot. */
  readonly startTicks: number;
  readonly uid: number;
}

/** Clock ticks per second, `USER_HZ`: the same on every architecture that Deno runs on. */
const TICKS = 100;

/** `pidfd_send_signal` and `pidfd_open` of `asm-generic/unistd.h`: the same numbers on every architecture. */
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;
/** From `asm-generic/errno-base.h`: the process has ended. */
const ESRCH = 3;

/** Identifies the process that currently has an id. Returns `undefined` if there is none. */
export function identify(pid: number): ProcessId | undefined {
  const stat = attempt(() => Deno.readTextFileSync(`/proc/${pid}/stat`));
  const uid = stat === undefined ? undefined : uidOf(pid);
  if (stat === undefined || uid === undefined) return undefined;
  // The name in parentheses may contain anything; fields from the third on follow it. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined; // zombie or dead
  return { pid, startTicks: Number(fields[19]), uid };
}

/** Returns the user of a process; `undefined` if its real and effective users differ. */
function uidOf(pid: number): number | undefined {
  const status = attempt(() => Deno.readTextFileSync(`/proc/${pid}/status`));
  const line = /^Uid:(?:\t(\d+))(?:\t\1){3}$/m.exec(status ?? "");
  return line === null ? undefined : Number(line[1]);
}

/** Whether the process still runs, and its id has not been reused. */
export function isRunning({ pid, startTicks, uid }: ProcessId): boolean {
  const now = identify(pid);
  return now !== undefined && now.startTicks === startTicks && now.uid === uid;
}

/** Opens a pidfd, which outlasts reuse of the id. Returns -1 if there is no process, or before Linux 5.3. */
export function openProcess(pid: number): number {
  return libc().syscall(BigInt(PIDFD_OPEN), BigInt(pid), 0n);
}

/** Supported signals; their numbers are the same on all architectures. */
const SIGNALS = { SIGKILL: 9, SIGTERM: 15 } as const;

/** Signals a recorded process, unless it has ended. Never signals another process that reuses its id. */
export function sendSignal(
  process: ProcessId,
  signal: keyof typeof SIGNALS,
): void {
  const fd = openProcess(process.pid);
  try {
    // The descriptor was opened before this check, so it refers to the checked process.
    if (!isRunning(process)) return;
    if (fd < 0) return signalChild(process.pid, signal);
    const call = BigInt(PIDFD_SEND_SIGNAL);
    const number = BigInt(SIGNALS[signal]);
    const { syscallOfSignal } = libc();
    if (syscallOfSignal(call, BigInt(fd), number, 0n, 0n) === 0) return;
    if (errnoOf(libc()) !== ESRCH) throw lastError(libc());
  } finally {
    if (fd >= 0) libc().close(fd);
  }
}

/** Signals a child process, or process group, unless it has ended. */
export function signalChild(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // it has ended
  }
}

/** Reads a regular file of at most `most` bytes that a process has open. */
export function readDescriptor(
  pid: number,
  descriptor: number,
  most: number,
): Uint8Array<ArrayBuffer> | undefined {
  const file = openDescribedFile(`/proc/${pid}/fd/${descriptor}`);
  try {
    const { kind, size } = file.stat();
    if (kind !== "file" || size > most) return undefined;
    const bytes = new Uint8Array(size);
    return readFull(file, bytes) === size ? bytes : undefined;
  } finally {
    file.close();
  }
}

/** Clock ticks since boot, by a clock that cannot be set. */
export function ticksSinceBoot(): number {
  const [uptime] = Deno.readTextFileSync("/proc/uptime").split(" ");
  return Math.round(Number(uptime) * TICKS);
}

/** Seconds since a tick, to a hundredth. */
export function secondsSince(ticks: number): number {
  return Math.max(0, ticksSinceBoot() - ticks) / TICKS;
}

export async function waitForEnd(
  process: ProcessId,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isRunning(process)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/**
 * Finds the processes that have an open file, working directory, root, executable or mapped file at or below a
 * directory. Processes of other users are visible only to root. Names are those that `ps` shows.
 */
export function usersOf(
  directory: string,
): { readonly pid: number; readonly command: string }[] {
  const inside = (path: string) =>
    path === directory || path.startsWith(`${directory}/`);
  return [...Deno.readDirSync("/proc")]
    .map(({ name }) => Number(name))
    .filter((pid) => pid > 0 && uses(`/proc/${pid}`, inside))
    .map((pid) => ({ pid, command: commandOf(`/proc/${pid}`) }));
}

function uses(process: string, inside: (path: string) => boolean): boolean {
  const files = attempt(() => [...Deno.readDirSync(`${process}/fd`)]) ?? [];
  const links = [
    "cwd",
    "root",
    "exe",
    ...files.map(({ name }) => `fd/${name}`),
  ];
  const isInside = (link: string) =>
    inside(attempt(() => Deno.readLinkSync(`${process}/${link}`)) ?? "");
  if (links.some(isInside)) return true;
  const maps = attempt(() => Deno.readTextFileSync(`${process}/maps`)) ?? "";
  return maps.split("\n").some((line) => {
    const start = line.indexOf("/");
    return start >= 0 && inside(line.slice(start));
  });
}

function commandOf(process: string): string {
  const text = attempt(() => Deno.readTextFileSync(`${process}/comm`));
  return text?.trimEnd() ?? "?";
}

/** Returns `undefined` if a look fails: processes and records may vanish meanwhile, or belong to other users. */
export function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
