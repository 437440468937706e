import { readFileSync } from "node:fs";
import { formatBytes } from "../terminal/amounts.ts";

/** Paths and file names of control groups version 2 and version 1. */
const GROUPS = [
  {
    line: /^0::(\/.*)$/m,
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    events: "memory.events",
  },
  {
    line: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m,
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    events: "memory.oom_control",
  },
] as const;

/** Limits from here on mean unlimited. */
const NO_LIMIT = 2 ** 60;

/** Memory limit of this process and its children. */
export interface MemoryLimit {
  /** In bytes; infinite if unlimited or unknown. */
  readonly bytes: number;
  /** Number of processes that the kernel has killed because of it. */
  readonly kills: number;
}

/** Reads the memory limit from the control groups of this process. */
export function memoryLimit(): MemoryLimit {
  const own = read("/proc/self/cgroup");
  let bytes = Infinity;
  let kills = 0;
  for (const { line, root, limit, events } of GROUPS) {
    const path = line.exec(own)?.[1];
    if (path === undefined) continue;
    // The group of a container may have another path inside it, so include the root.
    for (const group of [...groupsAbove(path), ""]) {
      const most = Number(read(`${root}${group}/${limit}`).trim() || NaN);
      if (most < NO_LIMIT) bytes = Math.min(bytes, most);
      const killed = /^oom_kill (\d+)$/m.exec(
        read(`${root}${group}/${events}`),
      );
      kills += Number(killed?.[1] ?? 0);
    }
  }
  return { bytes, kills };
}

/** Signals that end a process which runs out of memory: the kernel's, and those of V8. */
const WITHOUT_MEMORY: ReadonlySet<string | null> = new Set([
  "SIGKILL",
  "SIGTRAP",
  "SIGABRT",
]);

/** Explains the end of a process by such a signal, unless it was told to end. Empty if memory is not the reason. */
export function wantOfMemory(
  signal: string | null,
  before: MemoryLimit,
): string {
  if (!WITHOUT_MEMORY.has(signal)) return "";
  const { bytes, kills } = memoryLimit();
  const limit = bytes === Infinity
    ? ""
    : `: the limit here is ${formatBytes(bytes)}`;
  return kills > before.kills
    ? `. The kernel killed it because memory ran out${limit}. Give it 256 MB or more`
    : `. That also happens when memory runs out${limit}`;
}

function groupsAbove(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  return names.map((_, i) => `/${names.slice(0, names.length - i).join("/")}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
