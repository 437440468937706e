import { readFileSync } from "node:fs";
import { formatBytes } from "../terminal/amounts.ts";

/** Where control groups are, and what their files are called: of version 2, and of version 1. */
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

/** A limit of this is none. */
const NO_LIMIT = 2 ** 60;

/** The limit of memory of this process, and of those that it starts. */
export interface MemoryLimit {
  /** In bytes; infinite where there is none, or it is not known. */
  readonly bytes: number;
  /** How many processes the kernel has killed because of it. */
  readonly kills: number;
}

/** Looks at the control groups that this process is in. */
export function memoryLimit(): MemoryLimit {
  const own = read("/proc/self/cgroup");
  let bytes = Infinity;
  let kills = 0;
  for (const { line, root, limit, events } of GROUPS) {
    const path = line.exec(own)?.[1];
    if (path === undefined) continue;
    // That of a container may be called otherwise outside of it.
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

/** Signals by which a process ends that gets no memory: the kernel's, and those of V8. */
const WITHOUT_MEMORY: ReadonlySet<string | null> = new Set([
  "SIGKILL",
  "SIGTRAP",
  "SIGABRT",
]);

/**
 * What to say of a process that ended by such a signal unless it was told to; nothing where memory has no part in it.
 *
 * @param before What was known when it began.
 */
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
    ? `. The kernel killed it for want of memory${limit}. Give it 256 MB or more`
    : `. That happens for want of memory, too${limit}`;
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
