import { isFfiPermitted, libcIfPermitted } from "../libc/libc.ts";

/** From `asm-generic/resource.h`. */
const RLIMIT_NOFILE = 7;
/** Default of most systems, if the limit is unknown. */
const USUAL_LIMIT = 1024;

/** Enough for the shards of any container, and the connections of a server. */
const MOST_OPEN = 65_536n;

export interface DescriptorBudget {
  /** Most idle descriptors that the thread caches. */
  readonly mostIdle: number;
  /** Descriptor number from which on all threads together have too many. */
  readonly crowdedFrom: number;
}

/** Most idle descriptors of a thread if the process may have many. */
const MOST = 128;
/** With fewer, files would be opened and closed constantly. */
const LEAST = 8;
/** A mount has four threads with files of their own, and the process needs some descriptors for other things. */
const SHARE = 8;

/** Returns one thread's share of the process's limit. */
export function descriptorBudget(): DescriptorBudget {
  const limit = openFilesLimit() ?? USUAL_LIMIT;
  const share = Math.floor(limit / SHARE);
  return {
    mostIdle: Math.min(Math.max(share, LEAST), MOST),
    // The other half is for threads, connections and what they open briefly.
    crowdedFrom: Math.floor(limit / 2),
  };
}

/** Returns `ulimit -n`. Known on Linux with `--allow-ffi` or all permissions; never prompts. */
export function openFilesLimit(): number | undefined {
  const limits = readLimits();
  if (limits !== undefined) return Number(limits[0]);
  if (Deno.build.os !== "linux" || !isAllPermitted()) return undefined;
  try {
    const text = Deno.readTextFileSync("/proc/self/limits");
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // `/proc` is not mounted
  }
}

/**
 * Sets the limit of open files to the hard limit, but at most 65,536. Deno itself raises it as far as possible, which
 * may be a billion. Child processes inherit it, and some of them close every possible descriptor.
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

/** Reads `struct rlimit`: the soft and the hard limit, 64 bits each. */
function readLimits(): BigUint64Array<ArrayBuffer> | undefined {
  const limits = new BigUint64Array(2);
  const libc = libcIfPermitted();
  return libc?.getrlimit(RLIMIT_NOFILE, limits) === 0 ? limits : undefined;
}

/** Whether all permissions are granted, which `/proc/self` needs. Never prompts. */
function isAllPermitted(): boolean {
  const names = ["read", "write", "net", "env", "run", "sys"] as const;
  return isFfiPermitted() &&
    names.every((name) =>
      Deno.permissions.querySync({ name }).state === "granted"
    );
}
