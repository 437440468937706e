/**
 * Writers of the less frequent reply structs of `linux/fuse.h`, at the offsets of protocol 7.9 and later. All take
 * a view and the byte offset to write at.
 *
 * @module
 */

import { NAME_MAX } from "../limits.ts";

/** Bytes of `struct fuse_open_out`. */
export const OPEN_OUT_SIZE = 16;
/** Bytes of `struct fuse_statfs_out`. */
export const STATFS_OUT_SIZE = 80;
/** Bytes of `struct fuse_init_out`. */
export const INIT_OUT_SIZE = 64;
/** Bytes of `struct fuse_init_out` before 7.23: `FUSE_COMPAT_22_INIT_OUT_SIZE`. */
export const INIT_OUT_SIZE_BEFORE_23 = 24;

/** Block size that attributes and `statfs` report. */
export const BLOCK_SIZE = 4096;

/** Writes a 64-bit integer; negative values in two's complement. */
function putU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, true); // stores the value modulo 2^32
  view.setUint32(at + 4, Math.floor(value / 0x1_0000_0000), true);
}

/** Writes a `struct fuse_open_out` with file handle 0: the server keeps no open files. */
export function putOpen(view: DataView, at: number, flags: number): void {
  putU64(view, at, 0);
  view.setUint32(at + 8, flags, true);
  view.setUint32(at + 12, 0, true);
}

/** Writes a `struct fuse_statfs_out` of a full file system of that many bytes and nodes. */
export function putStatfs(
  view: DataView,
  at: number,
  size: number,
  nodes: number,
): void {
  clear(view, at, STATFS_OUT_SIZE);
  putU64(view, at, Math.ceil(size / BLOCK_SIZE)); // blocks; bfree and bavail stay 0
  putU64(view, at + 24, nodes); // files; ffree stays 0
  view.setUint32(at + 40, BLOCK_SIZE, true); // bsize
  view.setUint32(at + 44, NAME_MAX, true); // namelen
  view.setUint32(at + 48, BLOCK_SIZE, true); // frsize
}

/** Fields of `struct fuse_init_out` that differ between servers. */
export interface InitOut {
  readonly major: number;
  readonly minor: number;
  readonly maxReadahead: number;
  readonly flags: number;
  /** `flags2`, valid if `flags` has `INIT_EXT`. */
  readonly moreFlags: number;
  readonly maxBackground: number;
  readonly maxWrite: number;
  readonly maxPages: number;
}

export function putInit(view: DataView, at: number, init: InitOut): void {
  clear(view, at, INIT_OUT_SIZE);
  view.setUint32(at, init.major, true);
  view.setUint32(at + 4, init.minor, true);
  view.setUint32(at + 8, init.maxReadahead, true);
  view.setUint32(at + 12, init.flags, true);
  view.setUint16(at + 16, init.maxBackground, true);
  view.setUint16(at + 18, Math.floor(init.maxBackground * 3 / 4), true); // congestion_threshold
  view.setUint32(at + 20, init.maxWrite, true);
  view.setUint32(at + 24, 1, true); // time_gran: nanoseconds
  view.setUint16(at + 28, init.maxPages, true);
  view.setUint32(at + 32, init.moreFlags, true);
}

/** Zeroes a range whose length must be a multiple of 8. */
function clear(view: DataView, at: number, length: number): void {
  for (let i = at; i < at + length; i += 8) putU64(view, i, 0);
}
