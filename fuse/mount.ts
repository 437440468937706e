import type { Tree } from "../src/tree/tree.ts";
import { newStat, ROOT } from "../src/tree/tree.ts";
import { attach } from "./attach.ts";
import { libc } from "./libc.ts";
import { localAnswer } from "./local_answer.ts";
import { Mapping } from "./mapping.ts";
import { DEFAULT_WORKERS } from "./limits.ts";
import type { KernelOptions } from "./mount_options.ts";
import { Mount } from "./mount_handle.ts";
import { checkMountpoint } from "./mountpoint.ts";
import { OnceLog } from "./once_log.ts";
import { withPermissionErrors } from "./permission_error.ts";
import { Server } from "./server.ts";

/** How to mount a tree. */
export interface MountOptions extends KernelOptions {
  /** Path of the container: shows as the mounted device, and must not hold the mount point. */
  readonly source?: string | undefined;
  /**
   * Threads that serve the mount. Defaults to 3.
   */
  readonly workers?: number | undefined;
  /** Receives a message, once, for each different thing that goes wrong while serving. */
  readonly onLog?: ((message: string) => void) | undefined;
  /** Receives a line for each request that the kernel sends; slows the mount down. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/**
 * Mounts a tree, read-only, and serves it from a thread of this process.
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
    const path = await checkMountpoint(mountpoint, {
      tree,
      source: options.source,
      nonEmpty: options.nonEmpty === true,
    });
    localAnswer(tree.stat(ROOT, newStat()));
    const mapping = Mapping.of(tree.sources);
    try {
      return await mountMapped(tree, mapping, path, options);
    } catch (error) {
      mapping[Symbol.dispose]();
      throw error;
    }
  });
}

async function mountMapped(
  tree: Tree,
  mapping: Mapping,
  mountpoint: string,
  options: MountOptions,
): Promise<Mount> {
  // Each thread keeps to one message of a kind; this keeps the threads to one.
  const log = new OnceLog(options.onLog ?? (() => {}));
  const server = await Server.prepare({
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
  let fd: number;
  try {
    fd = await attach({
      mountpoint,
      fsname: options.fsname ?? options.source ?? "recordfs",
      subtype: options.subtype ?? "recordfs",
      options,
    });
  } catch (error) {
    server.abandon();
    throw error;
  }
  return await Mount.start({ mountpoint, mapping, server, fd });
}
