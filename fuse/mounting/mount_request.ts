import { MAX_TRANSFER } from "../limits.ts";
import type { KernelOptions } from "./mount_options.ts";

/** Mount request to the kernel or to fusermount3. */
export interface MountRequest {
  readonly mountpoint: string;
  readonly fsname: string;
  /** File-system type after `fuse.`. */
  readonly subtype: string;
  readonly options: KernelOptions;
}

/** FUSE options in the spelling of both the kernel and fusermount3. */
export function fuseOptions({ options }: MountRequest): string[] {
  const list = [
    `max_read=${Math.min(options.maxRead ?? Infinity, MAX_TRANSFER)}`,
    // Without it, any user with access may read everything regardless of permission bits, and access(2)
    // reports every file as executable.
    "default_permissions",
  ];
  if (options.allowOther) list.push("allow_other");
  return list;
}
