/**
 * Types of `mount` of `@recordfs/recordfs`, which mounts containers on Linux through `/dev/fuse`, without native code of
 * its own. Needs `--allow-ffi`
 * and `--allow-read`; ordinary users also need `--allow-run=fusermount3`.
 *
 * @module
 */
export type { MountedPlace } from "./mount_container.ts";
export type { MountOptions } from "./mount.ts";
export type { EndOptions, MountEnd } from "./mounting/mount_handle.ts";
export type { KernelOptions } from "./mounting/mount_options.ts";
export type { UnmountOptions } from "./mounting/unmount.ts";
