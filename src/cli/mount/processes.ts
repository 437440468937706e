import { libc } from "../../../fuse/libc.ts";
import { readFull } from "../../io/directories/directory.ts";
import { openDescribedFile } from "../../io/directories/file_by_descriptor.ts";
import { errnoOf, lastError } from "../../io/libc/libc.ts";

/** Identifies a process: its number is reused, its number and start time together are not. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, in clock ticks since boot. */
  readonly startTicks: number;
  /** The user it runs as. */
  readonly uid: number;
}

/** Clock ticks a second, `USER_HZ`: the same on every architecture that Deno runs on. */
const TICKS = 100;

/** `pidfd_send_signal` and `pidfd_open` of `asm-generic/unistd.h`: the same numbers on every architecture. */
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;
/** From `asm-generic/errno-base.h`: the process has ended. */
const ESRCH = 3;

/** Says which process has a number now, and who runs it. */
export function identify(pid: number): ProcessId | undefined {
  const stat = attempt(() => Deno.readTextFileSync(`/proc/${pid}/stat`));
  const uid = stat === undefined ? undefined : uidOf(pid);
  if (stat === undefined || uid === undefined) return undefined;
  // The name in parentheses may hold anything; fields 3 and on follow it. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined; // ended, not yet waited for
  return { pid, startTicks: Number(fields[19]), uid };
}

/** The user that a process runs as; `undefined` where it acts as another one than who started it. */
function uidOf(pid: number): number | undefined {
  const status = attempt(() => Deno.readTextFileSync(`/proc/${pid}/status`));
  const line = /^Uid:(?:\t(\d+))(?:\t\1){3}$/m.exec(status ?? "");
  return line === null ? undefined : Number(line[1]);
}

/** Whether it is still that process that has the number. */
export function isRunning({ pid, startTicks, uid }: ProcessId): boolean {
  const now = identify(pid);
  return now !== undefined && now.startTicks === startTicks && now.uid === uid;
}

/**
 * Opens a descriptor of a process, which stays that process's when its number is reused.
 *
 * @returns -1 where there is none, or before Linux 5.3.
 */
export function openProcess(pid: number): number {
  return libc().syscall(BigInt(PIDFD_OPEN), BigInt(pid), 0n);
}

/** Signals that processes of a record are sent, with their numbers, which all architectures share. */
const SIGNALS = { SIGKILL: 9, SIGTERM: 15 } as const;

/** Sends a signal to a process that a record names, unless it has ended; never to another one that has its number. */
export function sendSignal(
  process: ProcessId,
  signal: keyof typeof SIGNALS,
): void {
  const fd = openProcess(process.pid);
  try {
    // The descriptor is of the process that had the number before this look at it.
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

/** Sends a signal to a process, or group of processes, that this one has started, unless it has ended. */
export function signalChild(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // it has ended
  }
}

/**
 * Reads what a process has open under a number.
 *
 * @returns `undefined` where that is not a regular file, or has more than `most` bytes.
 */
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

/** Clock ticks since boot, by a clock that nobody can set. */
export function ticksSinceBoot(): number {
  const [uptime] = Deno.readTextFileSync("/proc/uptime").split(" ");
  return Math.round(Number(uptime) * TICKS);
}

/** Seconds since then, to a hundredth. */
export function secondsSince(ticks: number): number {
  return Math.max(0, ticksSinceBoot() - ticks) / TICKS;
}

/**
 * Waits until a process has ended.
 *
 * @returns Whether it has.
 */
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
 * Finds who has something open at or below a directory, works in it, runs from it or maps a file of
 * it. Processes of other users show only to root.
 *
 * @returns Their numbers, and their names as `ps` shows them.
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

/** What may have gone while it is looked at, as processes and records do, or be somebody else's. */
export function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
