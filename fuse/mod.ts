/**
 * Options of `mount` of `@recordfs/recordfs`, which mounts containers on Linux through `/dev/fuse`, without native code
 * of its own. Needs `--allow-ffi` and `--allow-read`; ordinary users also need `--allow-run=fusermount3`.
 *
 * @module
 */
export type { MountOptions } from "./mounting/mount_options.ts";
