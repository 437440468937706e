import * as fs from "node:fs";

/** A control group with a memory limit for all its processes together. */
export interface MemoryGroup {
  /** The file to which process ids are written. */
  readonly procs: string;
  /** Sets the limit, in bytes. */
  limit(bytes: number): void;
  /** Moves a process into the group, with children that it starts later. */
  add(pid: number): void;
  /** Number of the group's processes that the kernel has killed because memory ran out. */
  kills(): number;
}

/** Root directory and file names of control groups, for versions 2 and 1. */
const VERSIONS = [
  {
    root: "/sys/fs/cgroup",
    sign: "cgroup.subtree_control",
    limit: "memory.max",
    events: "memory.events",
  },
  {
    root: "/sys/fs/cgroup/memory",
    sign: "memory.limit_in_bytes",
    limit: "memory.limit_in_bytes",
    events: "memory.oom_control",
  },
] as const;

/** Whether this user can create a control group on this machine. */
export function hasMemoryGroups(): boolean {
  const group = make();
  if (group === undefined) return false;
  fs.rmdirSync(group.path);
  return true;
}

/** Runs `body` with a group, and then kills its processes and removes it. */
export async function withMemoryGroup(
  body: (group: MemoryGroup) => Promise<void>,
): Promise<void> {
  const { path, limit, events } = make()!;
  const procs = `${path}/cgroup.procs`;
  try {
    await body({
      procs,
      limit: (bytes) => fs.writeFileSync(`${path}/${limit}`, `${bytes}`),
      add: (pid) => fs.writeFileSync(procs, `${pid}`),
      kills() {
        const text = fs.readFileSync(`${path}/${events}`, "utf8");
        return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? NaN);
      },
    });
  } finally {
    await remove(path, procs);
  }
}

async function remove(path: string, procs: string): Promise<void> {
  for (let left = 100;; left--) {
    for (const pid of fs.readFileSync(procs, "utf8").split("\n")) {
      if (pid !== "") Deno.kill(Number(pid), "SIGKILL");
    }
    try {
      return fs.rmdirSync(path);
    } catch (error) {
      if (left === 0) throw error; // killed processes take a moment to end
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function make() {
  for (const { root, sign, limit, events } of VERSIONS) {
    if (!fs.existsSync(`${root}/${sign}`)) continue;
    const path = `${root}/recordfs-test-${crypto.randomUUID()}`;
    try {
      fs.mkdirSync(path);
    } catch {
      continue; // read-only, as in most containers
    }
    if (fs.existsSync(`${path}/${limit}`)) return { path, limit, events };
    fs.rmdirSync(path); // the memory controller belongs to the other version
  }
  return undefined;
}
