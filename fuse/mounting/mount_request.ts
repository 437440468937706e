import { MAX_TRANSFER } from "../limits.ts";
import type { KernelOptions } from "./mount_options.ts";

/** Request to the kernel, or to fusermount3, to mount. */
export interface MountRequest {
  /** Absolute path of the mount point. */
  readonly mountpoint: string;
  /** Name of the mounted device. */
  readonly fsname: string;
  /** Name after `fuse.` of the type. */
  readonly subtype: string;
  readonly options: KernelOptions;
}

/** FUSE's own options, as both the kernel and fusermount3 spell them. */
export function fuseOptions({ options }: MountRequest): string[] {
  const list = [
    `max_read=${Math.min(options.maxRead ?? Infinity, MAX_TRANSFER)}`,
    // Without it any user who gets in may read everything, whatever the permission bits say, and
    // access(2) takes every file for a program.
    "default_permissions",
  ];
  if (options.allowOther) list.push("allow_other");
  return list;
}
