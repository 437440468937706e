import type { Tree } from "../src/tree/tree.ts";
import { newStat, ROOT } from "../src/tree/tree.ts";
import { attach } from "./attach.ts";
import { libc } from "./libc.ts";
import { localAnswer } from "./local_answer.ts";
import { Mapping } from "./mapping.ts";
import { DEFAULT_WORKERS, MOST_WORKERS } from "./limits.ts";
import type { KernelOptions } from "./mount_options.ts";
import { checkInteger, checkKernelOptions } from "./option_rules.ts";
import { Mount } from "./mount_handle.ts";
import { checkMountpoint, resolveMountpoint } from "./mountpoint.ts";
import { oneAtATime } from "./one_at_a_time.ts";
import { OnceLog } from "./once_log.ts";
import { withPermissionErrors } from "./permission_error.ts";
import { Server } from "./server.ts";

/** How to mount a tree. */
export interface MountOptions extends KernelOptions {
  /** Path of the container: shows as the mounted device, and must not hold the mount point. */
  readonly source?: string | undefined;
  /** Threads that serve the mount, 1 to 64. Defaults to 3. */
  readonly workers?: number | undefined;
  /** Receives a message, once, for each different thing that goes wrong while serving. */
  readonly onLog?: ((message: string) => void) | undefined;
  /** Receives a line for each request that the kernel sends; slows the mount down. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/**
 * Mounts a tree, read-only, and serves it from threads of this process.
 *
 * The tree stays the caller's, to be closed after the mount has ended. Its containers must be local:
 * files or memory.
 *
 * @param mountpoint An empty directory.
 * @returns The mount, once it answers.
 * @throws {MountError} If it cannot be mounted; `code` says why.
 */
export function mountTree(
  tree: Tree,
  mountpoint: string,
  options: MountOptions = {},
): Promise<Mount> {
  return withPermissionErrors(mountpoint, async () => {
    checkKernelOptions(options);
    checkInteger("workers", options.workers, 1, MOST_WORKERS);
    const path = await resolveMountpoint(mountpoint);
    // Two at once would both find the directory empty, and take the upper mount for their own.
    return await oneAtATime(path, async () => {
      await checkMountpoint(path, {
        tree,
        source: options.source,
        nonEmpty: options.nonEmpty === true,
      });
      localAnswer(tree.stat(ROOT, newStat()));
      return await mountMapped(tree, path, options);
    });
  });
}

async function mountMapped(
  tree: Tree,
  mountpoint: string,
  options: MountOptions,
): Promise<Mount> {
  const mapping = Mapping.of(tree.sources);
  let server: Server | undefined;
  let fd: number;
  try {
    server = await prepareServer(tree, mapping, options);
    fd = await attach({
      mountpoint,
      fsname: options.fsname ?? (options.source || "recordfs"),
      subtype: options.subtype ?? "recordfs",
      options,
    });
  } catch (error) {
    server?.abandon();
    mapping[Symbol.dispose]();
    throw error;
  }
  // From here on only the mount knows when no thread sends from the mapping any more.
  return await Mount.start({ mountpoint, mapping, server, fd });
}

function prepareServer(
  tree: Tree,
  mapping: Mapping,
  options: MountOptions,
): Promise<Server> {
  // Each thread keeps to one message of a kind; this keeps the threads to one.
  const log = new OnceLog(options.onLog ?? (() => {}));
  return Server.prepare({
    tree,
    sources: mapping.sources,
    owner: {
      uid: options.uid ?? libc().getuid(),
      gid: options.gid ?? libc().getgid(),
      umask: options.umask ?? 0,
    },
    workers: options.workers ?? DEFAULT_WORKERS,
    onLog: (message) => log.log(message),
    onTrace: options.onTrace,
  });
}
