import { isFfiPermitted, libcIfPermitted } from "../libc/libc.ts";

/** `RLIMIT_NOFILE`, from `asm-generic/resource.h`. */
const RLIMIT_NOFILE = 7;
/** What most systems let a process have, where it can't be asked. */
const USUAL_LIMIT = 1024;

/** As many files as any container has shards, and a server connections. */
const MOST_OPEN = 65_536n;

/** How many descriptors a thread may have. */
export interface DescriptorBudget {
  /** Those that it keeps for later use. */
  readonly mostIdle: number;
  /** The number of a descriptor from which on all threads have too many. */
  readonly crowdedFrom: number;
}

/** Descriptors that one thread keeps where the process may have many. */
const MOST = 128;
/** Fewer would be opened and closed all the time. */
const LEAST = 8;
/** A mount has four threads with files of their own, and the process needs some for other things. */
const SHARE = 8;

/** What one thread may have of what the process may have open. */
export function descriptorBudget(): DescriptorBudget {
  const limit = openFilesLimit() ?? USUAL_LIMIT;
  const share = Math.floor(limit / SHARE);
  return {
    mostIdle: Math.min(Math.max(share, LEAST), MOST),
    // The other half is for threads, connections and what they open for a moment.
    crowdedFrom: Math.floor(limit / 2),
  };
}

/**
 * How many files the process may have open (`ulimit -n`), which Linux tells where `--allow-ffi` is given, or
 * everything is permitted; it is not asked for.
 */
export function openFilesLimit(): number | undefined {
  const limits = readLimits();
  if (limits !== undefined) return Number(limits[0]);
  if (Deno.build.os !== "linux" || !isAllPermitted()) return undefined;
  try {
    const text = Deno.readTextFileSync("/proc/self/limits");
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // it is not mounted
  }
}

/**
 * Has the process open as many files as its hard limit permits, up to 65,536. Deno itself raises the limit as far as it
 * goes, which may be a billion: programs that it starts have the same, and some of them close every number there may be.
 */
export function raiseOpenFilesLimit(): void {
  const limits = readLimits();
  if (limits === undefined) return;
  const [soft, hard] = limits;
  const wanted = hard! < MOST_OPEN ? hard! : MOST_OPEN;
  if (soft === wanted) return;
  limits[0] = wanted;
  libcIfPermitted()!.setrlimit(RLIMIT_NOFILE, limits);
}

/** `struct rlimit`: the soft and the hard limit, 64 bits each. */
function readLimits(): BigUint64Array<ArrayBuffer> | undefined {
  const limits = new BigUint64Array(2);
  const libc = libcIfPermitted();
  return libc?.getrlimit(RLIMIT_NOFILE, limits) === 0 ? limits : undefined;
}

/** `/proc/self` takes every permission there is; nobody is asked. */
function isAllPermitted(): boolean {
  const names = ["read", "write", "net", "env", "run", "sys"] as const;
  return isFfiPermitted() &&
    names.every((name) =>
      Deno.permissions.querySync({ name }).state === "granted"
    );
}
