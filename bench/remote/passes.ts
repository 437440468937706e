/** Passes over the files of mounts, each of a fresh mount with an empty cache. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { ownMemory } from "../support/memory.ts";
import { run, runJson } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";
import { RCLONE, type Store } from "./stores.ts";

/** Common properties of all passes. */
export interface Place {
  readonly workspace: Workspace;
  /** Path of the compiled `reader.c`. */
  readonly reader: string;
  /** Path of the local archive. */
  readonly archive: string;
  /** Directory on a file system in memory. */
  readonly memory: string;
  /** Number of files, and bytes of each. */
  readonly files: number;
  readonly size: number;
}

/** How the files are read. */
export interface Way {
  readonly readers: number;
  /** Whether files are read in order of their names; otherwise at random. */
  readonly isInOrder?: boolean;
  readonly seed?: number;
  /** Reads only the first files of that order. */
  readonly most?: number;
  /** MiB of memory touched before the clock starts, as many as caches will need; see `reader.c`. */
  readonly touch?: number;
  /** Directory of the files in the mount. */
  readonly below?: string;
}

/** Result of a pass over files. */
export interface FilesPass {
  /** Seconds from the start of the mount's command until the mount responds, and for the listing. */
  readonly ready: number;
  readonly listed: number;
  /** Seconds of reading. */
  readonly seconds: number;
  readonly filesRead: number;
  /** Peak memory of the server itself, in bytes. */
  readonly memory: number;
}

/** Program that mounts. */
export interface Mounter {
  readonly name: string;
  /** @param cache An empty directory for its cache. */
  command(mountpoint: string, cache: string): readonly string[];
}

/** Returns recordfs with the archive. */
export function recordfs(
  { archive, env }: Pick<Store, "archive" | "env">,
  ...options: string[]
): Mounter {
  return {
    name: "recordfs",
    command: (mountpoint, cache) => [
      ...withEnv(env),
      ...[...RECORDFS, "mount", "-f", "--cache-dir", cache],
      ...[...options, archive, mountpoint],
    ],
  };
}

/** Returns rclone with the files as single objects, listed without a request for each where possible. */
export function rclone({ rcloneFiles }: Store): Mounter {
  return {
    name: "rclone mount --vfs-cache-mode full",
    command: (mountpoint, cache) => [
      ...[...RCLONE, "mount", rcloneFiles, mountpoint, "--cache-dir", cache],
      ...["--vfs-cache-mode", "full", "--dir-cache-time", "1h"],
      ...["--checkers", "64", "--no-checksum", "--use-server-modtime"],
    ],
  };
}

/** Returns s3fs with the files as single objects. */
export function s3fs(files: readonly string[]): Mounter {
  return {
    name: "s3fs",
    command: (mountpoint, cache) => [
      ...["s3fs", files[0]!, mountpoint, "-f", ...files.slice(1)],
      ...["-o", `use_cache=${cache}`, "-o", "parallel_count=64"],
      ...["-o", "multireq_max=64", "-o", "max_stat_cache_size=1000000"],
      ...["-o", "enable_noobj_cache"],
    ],
  };
}

/** Returns the words of a command line that set an environment. */
export function withEnv(env: Readonly<Record<string, string>>): string[] {
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return words.length === 0 ? [] : ["env", ...words];
}

/** Mounts with an empty cache, reads, and unmounts. */
export async function coldPass(
  place: Place,
  mounter: Mounter,
  way: Way,
): Promise<FilesPass> {
  const cache = place.workspace.file("cache");
  fs.mkdirSync(cache);
  try {
    const [one] = await pass(place, mounter, cache, [way], true);
    return one!;
  } finally {
    fs.rmSync(cache, { recursive: true, force: true });
  }
}

/**
 * Mounts, runs several passes with a cold page cache, and unmounts.
 *
 * @param isWarm Whether to load the server's files into its memory first.
 */
export async function pass(
  place: Place,
  mounter: Mounter,
  cache: string,
  ways: readonly Way[],
  isWarm = false,
): Promise<FilesPass[]> {
  const { workspace, reader, files, size } = place;
  const mountpoint = workspace.file("mnt");
  fs.mkdirSync(mountpoint, { recursive: true });
  const server = await MountedServer.start(
    mounter.command(mountpoint, cache),
    mountpoint,
  );
  const stop = async () => await server.stop();
  workspace.defer(stop);
  const watched = new WatchedMemory(server.pid);
  const passes: FilesPass[] = [];
  try {
    for (const way of ways) {
      const { readers, isInOrder, seed = 1, most = files, below, touch } = way;
      await dropCaches();
      if (isWarm) await warm(place);
      const { passes: [read], listSeconds } = await runJson<Read>([
        ...[reader, "--readers", `${readers}`, "--seed", `${seed}`],
        ...["--files", `${most}`, ...isInOrder ? ["--in-order"] : []],
        ...touch === undefined ? [] : ["--touch", `${touch}`],
        below === undefined ? mountpoint : `${mountpoint}/${below}`,
      ]);
      const { seconds, bytes } = read;
      if (bytes !== most * size) {
        throw new Error(
          `${mounter.name} gave ${bytes} bytes, not ${most * size}`,
        );
      }
      const { most: memory } = watched;
      const ready = server.readyAfter / 1000;
      passes.push({
        ready,
        listed: listSeconds,
        seconds,
        filesRead: most,
        memory,
      });
    }
  } finally {
    watched.end();
    await server.stop();
  }
  return passes;
}

/** Output of `reader.c`. */
interface Read {
  readonly listSeconds: number;
  readonly passes: readonly [
    { readonly seconds: number; readonly bytes: number },
  ];
}

/** Loads the server's files into the page cache. */
export async function warm({ archive }: Place): Promise<void> {
  const files = `${dirname(archive)}/files`;
  await run([
    "sh",
    "-c",
    `cat "$0" > /dev/null; exec find "$1" -type f -exec cat {} + > /dev/null`,
    archive,
    files,
  ]);
}

/** Empties the system's caches. Needs root. */
export async function dropCaches(): Promise<void> {
  await run(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"]);
}

/** Interval between memory samples, in milliseconds. */
const INTERVAL = 50;

/** Tracks the peak of a process's own memory. */
class WatchedMemory {
  most = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      ownMemory(pid).then(
        (bytes) => this.most = Math.max(this.most, bytes),
        () => {}, // the process has ended
      );
    }, INTERVAL);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
