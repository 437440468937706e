/** Passes over the files of mounts, each of a fresh one with an empty cache. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { MountedServer } from "../support/mounted_server.ts";
import { ownMemory } from "../support/memory.ts";
import { run, runJson } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";
import { RCLONE, type Store } from "./stores.ts";

/** What all passes have in common. */
export interface Place {
  readonly workspace: Workspace;
  /** The compiled `reader.c`. */
  readonly reader: string;
  /** The archive, here. */
  readonly archive: string;
  /** A directory of a file system in memory. */
  readonly memory: string;
  /** How many files there are, and the bytes of each. */
  readonly files: number;
  readonly size: number;
}

/** How the files are read. */
export interface Way {
  readonly readers: number;
  /** Of their names; otherwise random. */
  readonly isInOrder?: boolean;
  readonly seed?: number;
  /** Reads only the first of that order. */
  readonly most?: number;
  /** MiB of memory that are used before the clock starts, as many as caches will take; see `reader.c`. */
  readonly touch?: number;
  /** The directory in the mount that they are in. */
  readonly below?: string;
}

/** A pass over files. */
export interface FilesPass {
  /** From the start of the mount's command to its answer, and for the listing, in seconds. */
  readonly ready: number;
  readonly listed: number;
  /** For the reading. */
  readonly seconds: number;
  readonly filesRead: number;
  /** Most memory of its own that the server had, in bytes. */
  readonly memory: number;
}

/** Somebody who mounts. */
export interface Mounter {
  readonly name: string;
  /** @param cache An empty directory for what it keeps. */
  command(mountpoint: string, cache: string): readonly string[];
}

/** recordfs over the archive. */
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

/** rclone over the files as single objects: they are listed without being asked for one by one where that can be. */
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

/** s3fs over the files as single objects. */
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

/** A command line's words that set an environment. */
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
 * Mounts, reads several times without what the system has in memory, and unmounts.
 *
 * @param isWarm Whether the server has all in memory.
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

/** What `reader.c` prints. */
interface Read {
  readonly listSeconds: number;
  readonly passes: readonly [
    { readonly seconds: number; readonly bytes: number },
  ];
}

/** Has what the server sends be in memory. */
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

/** Empties the system's caches, which takes root. */
export async function dropCaches(): Promise<void> {
  await run(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"]);
}

/** How often memory is looked at, in milliseconds. */
const INTERVAL = 50;

/** The most memory of its own that a process has had. */
class WatchedMemory {
  most = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      ownMemory(pid).then(
        (bytes) => this.most = Math.max(this.most, bytes),
        () => {}, // it has ended
      );
    }, INTERVAL);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
