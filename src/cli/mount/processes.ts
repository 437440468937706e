/** Identifies a process: its number is reused, its number and start time together are not. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, in clock ticks since boot. */
  readonly startTicks: number;
}

/** Clock ticks a second, `USER_HZ`: the same on every architecture that Deno runs on. */
const TICKS = 100;

/** Says which process has a number now. */
export function identify(pid: number): ProcessId | undefined {
  const stat = attempt(() => Deno.readTextFileSync(`/proc/${pid}/stat`));
  if (stat === undefined) return undefined;
  // The name in parentheses may hold anything; fields 3 and on follow it. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined; // ended, not yet waited for
  return { pid, startTicks: Number(fields[19]) };
}

/** Whether it is still that process that has the number. */
export function isRunning({ pid, startTicks }: ProcessId): boolean {
  return identify(pid)?.startTicks === startTicks;
}

/** Sends a signal, unless the process, or group of processes, has ended. */
export function sendSignal(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // it has ended
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
