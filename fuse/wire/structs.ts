/**
 * Writers of the structs in `linux/fuse.h` that replies are made of, at the offsets of protocol 7.9
 * and later. All take the view and the byte offset to write at.
 *
 * @module
 */

import type { NodeId, NodeStat } from "../../src/tree/tree.ts";
import { EntryType, FileType } from "./flags.ts";

/** Bytes of `struct fuse_entry_out`. */
export const ENTRY_OUT_SIZE = 128;
/** Bytes of `struct fuse_attr_out`. */
export const ATTR_OUT_SIZE = 104;
/** Bytes of `struct fuse_open_out`. */
export const OPEN_OUT_SIZE = 16;
/** Bytes of `struct fuse_statfs_out`. */
export const STATFS_OUT_SIZE = 80;
/** Bytes of `struct fuse_init_out`. */
export const INIT_OUT_SIZE = 64;
/** Bytes of `struct fuse_init_out` before 7.23: `FUSE_COMPAT_22_INIT_OUT_SIZE`. */
export const INIT_OUT_SIZE_BEFORE_23 = 24;

/** Offset of `name` in `struct fuse_dirent`: `FUSE_NAME_OFFSET`. */
const DIRENT_NAME_OFFSET = 24;
/** Offset of `attr` in `struct fuse_entry_out`. */
const ENTRY_ATTR_OFFSET = 40;
/** Offset of `attr` in `struct fuse_attr_out`. */
const ATTR_OUT_ATTR_OFFSET = 16;

/**
 * How long the kernel may keep names and attributes, in seconds: a year, since a container does not
 * change while it is mounted.
 */
const CACHE_SECONDS = 365 * 24 * 3600;

/** Block size that attributes and `statfs` report. */
const BLOCK_SIZE = 4096;

/** Who owns the nodes of a mount, and what may be done with them. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits taken away from 0444 and 0555. */
  readonly umask: number;
}

/** Writes a 64-bit integer, negative ones in two's complement. */
function putU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, true); // takes the value modulo 2^32
  view.setUint32(at + 4, Math.floor(value / 0x1_0000_0000), true);
}

/** `struct fuse_entry_out` of an existing node. */
export function putEntry(
  view: DataView,
  at: number,
  node: NodeId,
  stat: NodeStat,
  owner: Ownership,
): void {
  putU64(view, at, node);
  putU64(view, at + 8, 0); // generation: ids are never reused
  putU64(view, at + 16, CACHE_SECONDS); // entry_valid
  putU64(view, at + 24, CACHE_SECONDS); // attr_valid
  putU64(view, at + 32, 0); // both nanosecond parts
  putAttr(view, at + ENTRY_ATTR_OFFSET, node, stat, owner);
}

/** `struct fuse_entry_out` that has the kernel remember that there is no such name. */
export function putNegativeEntry(view: DataView, at: number): void {
  clear(view, at, ENTRY_OUT_SIZE);
  putU64(view, at + 16, CACHE_SECONDS);
}

/** `struct fuse_attr_out`. */
export function putAttrOut(
  view: DataView,
  at: number,
  node: NodeId,
  stat: NodeStat,
  owner: Ownership,
): void {
  putU64(view, at, CACHE_SECONDS);
  putU64(view, at + 8, 0); // attr_valid_nsec, dummy
  putAttr(view, at + ATTR_OUT_ATTR_OFFSET, node, stat, owner);
}

/** `struct fuse_attr`. */
function putAttr(
  view: DataView,
  at: number,
  node: NodeId,
  stat: NodeStat,
  owner: Ownership,
): void {
  const seconds = Math.floor(stat.mtime / 1000);
  const nanoseconds = Math.floor((stat.mtime - seconds * 1000) * 1e6);
  putU64(view, at, node);
  putU64(view, at + 8, stat.size);
  putU64(view, at + 16, Math.ceil(stat.size / 512)); // blocks, always of 512 bytes
  putU64(view, at + 24, seconds); // atime
  putU64(view, at + 32, seconds); // mtime
  putU64(view, at + 40, seconds); // ctime
  view.setUint32(at + 48, nanoseconds, true);
  view.setUint32(at + 52, nanoseconds, true);
  view.setUint32(at + 56, nanoseconds, true);
  const mode = stat.isDirectory
    ? FileType.DIRECTORY | 0o555 & ~owner.umask
    : FileType.REGULAR | 0o444 & ~owner.umask;
  view.setUint32(at + 60, mode, true);
  // 1 for directories too: find(1) takes a count of 2 or more for 2 + the number of subdirectories.
  view.setUint32(at + 64, 1, true);
  view.setUint32(at + 68, owner.uid, true);
  view.setUint32(at + 72, owner.gid, true);
  view.setUint32(at + 76, 0, true); // rdev
  view.setUint32(at + 80, BLOCK_SIZE, true);
  view.setUint32(at + 84, 0, true); // flags
}

/** Size of a `struct fuse_dirent` with a name of that length, padding included. */
export function direntSize(nameLength: number): number {
  return (DIRENT_NAME_OFFSET + nameLength + 7) & ~7;
}

/** `struct fuse_dirent` without its name, its padding zeroed; the name goes at the result. */
export function putDirent(
  view: DataView,
  at: number,
  node: NodeId,
  next: number,
  nameLength: number,
  type: number,
): number {
  const size = direntSize(nameLength);
  if (size > DIRENT_NAME_OFFSET) putU64(view, at + size - 8, 0);
  putU64(view, at, node);
  putU64(view, at + 8, next);
  view.setUint32(at + 16, nameLength, true);
  view.setUint32(at + 20, type, true);
  return at + DIRENT_NAME_OFFSET;
}

/** The `d_type` of a node. */
export function entryType(isDirectory: boolean): number {
  return isDirectory ? EntryType.DIRECTORY : EntryType.FILE;
}

/** `struct fuse_open_out` with file handle 0: the server keeps no open files. */
export function putOpen(view: DataView, at: number, flags: number): void {
  putU64(view, at, 0);
  view.setUint32(at + 8, flags, true);
  view.setUint32(at + 12, 0, true);
}

/** `struct fuse_statfs_out` of a full file system of that many bytes and nodes. */
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
  view.setUint32(at + 44, 255, true); // namelen: NAME_MAX
  view.setUint32(at + 48, BLOCK_SIZE, true); // frsize
}

/** The fields of `struct fuse_init_out` that differ between servers. */
export interface InitOut {
  readonly major: number;
  readonly minor: number;
  readonly maxReadahead: number;
  readonly flags: number;
  readonly maxBackground: number;
  readonly maxWrite: number;
  readonly maxPages: number;
}

/** `struct fuse_init_out`. */
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
}

/** Zeroes a stretch; its length is a multiple of 8. */
export function clear(view: DataView, at: number, length: number): void {
  for (let i = at; i < at + length; i += 8) putU64(view, i, 0);
}
