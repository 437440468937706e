import * as fs from "node:fs";

/** A control group of its own, whose processes have so much memory together. */
export interface MemoryGroup {
  /** The file that takes processes. */
  readonly procs: string;
  /** Sets its limit, in bytes. */
  limit(bytes: number): void;
  /** Moves a process into it, with those that it starts from then on. */
  add(pid: number): void;
  /** How many of its processes the kernel has killed for want of memory. */
  kills(): number;
}

/** Directory of groups, and the names of their files: of version 2, and of version 1. */
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

/** Whether this machine lets this user make one. */
export function hasMemoryGroups(): boolean {
  const group = make();
  if (group === undefined) return false;
  fs.rmdirSync(group.path);
  return true;
}

/** Runs `body` with a group, which is empty and gone afterwards. */
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
      if (left === 0) throw error; // those that were killed take a moment
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
      continue; // as in most containers
    }
    if (fs.existsSync(`${path}/${limit}`)) return { path, limit, events };
    fs.rmdirSync(path); // its controller is another's
  }
  return undefined;
}
