import type { NodeId, NodeStat } from "../../src/tree/tree.ts";
import { FileType } from "./flags.ts";
import { BLOCK_SIZE } from "./structs.ts";

/** Bytes of `struct fuse_entry_out`. */
export const ENTRY_OUT_SIZE = 128;
/** Bytes of `struct fuse_attr_out`. */
export const ATTR_OUT_SIZE = 104;

/** Words of `struct fuse_entry_out` before its `attr`. */
const ENTRY_ATTR_WORDS = 10;
/** Words of `struct fuse_attr_out` before its `attr`. */
const ATTR_OUT_ATTR_WORDS = 4;

/** Mode of every symbolic link: its permission bits are never checked, and other file systems show all of them. */
const LINK_MODE = FileType.LINK | 0o777;

/**
 * The owner's write bits are set although the kernel enforces read-only: copies inherit the modes, and their owner
 * must be able to remove them.
 */
const DIRECTORY_MODE = FileType.DIRECTORY | 0o755;
const FILE_MODE = FileType.REGULAR | 0o644;

/** Seconds that the kernel may cache names and attributes: a year, since a mounted container does not change. */
const CACHE_SECONDS = 365 * 24 * 3600;

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits to remove from 0644 and 0755. */
  readonly umask: number;
}

/**
 * Writes the structs of `linux/fuse.h` that describe nodes, as of protocol 7.9 and later.
 *
 * Listings consist of them, so they are written in 32-bit words (in the machine's byte order, which is the
 * protocol's), and values common to all nodes are precomputed. Storing truncates a number modulo 2^32, which also
 * drops the fraction of a quotient.
 */
export class NodeStructs {
  readonly #uid: number;
  readonly #gid: number;
  readonly #directoryMode: number;
  readonly #fileMode: number;
  /** The `mtime` that the next three fields were computed from. */
  #mtime = 0;
  #secondsLow = 0;
  #secondsHigh = 0;
  #nanoseconds = 0;

  constructor({ uid, gid, umask }: Ownership) {
    this.#uid = uid;
    this.#gid = gid;
    this.#directoryMode = DIRECTORY_MODE & ~umask;
    this.#fileMode = FILE_MODE & ~umask;
  }

  /** Writes the `struct fuse_entry_out` of a node, at a byte offset that is a multiple of 4. */
  putEntry(
    words: Uint32Array,
    at: number,
    node: NodeId,
    stat: NodeStat,
  ): void {
    const word = at >>> 2;
    words[word] = node;
    words[word + 1] = node / 0x1_0000_0000;
    words[word + 2] = 0; // generation: ids are never reused
    words[word + 3] = 0;
    words[word + 4] = CACHE_SECONDS; // entry_valid
    words[word + 5] = 0;
    words[word + 6] = CACHE_SECONDS; // attr_valid
    words[word + 7] = 0;
    words[word + 8] = 0; // entry_valid_nsec
    words[word + 9] = 0; // attr_valid_nsec
    this.#putAttr(words, word + ENTRY_ATTR_WORDS, node, stat);
  }

  /** Writes the `struct fuse_attr_out` of a node, at a byte offset that is a multiple of 4. */
  putAttrOut(
    words: Uint32Array,
    at: number,
    node: NodeId,
    stat: NodeStat,
  ): void {
    const word = at >>> 2;
    words[word] = CACHE_SECONDS; // attr_valid
    words[word + 1] = 0;
    words[word + 2] = 0; // attr_valid_nsec
    words[word + 3] = 0; // dummy
    this.#putAttr(words, word + ATTR_OUT_ATTR_WORDS, node, stat);
  }

  #putAttr(
    words: Uint32Array,
    at: number,
    node: NodeId,
    { isDirectory, isLink, size, mtime }: NodeStat,
  ): void {
    if (mtime !== this.#mtime) this.#setTime(mtime);
    const blocks = Math.ceil(size / 512); // always of 512 bytes
    words[at] = node;
    words[at + 1] = node / 0x1_0000_0000;
    words[at + 2] = size;
    words[at + 3] = size / 0x1_0000_0000;
    words[at + 4] = blocks;
    words[at + 5] = blocks / 0x1_0000_0000;
    words[at + 6] = this.#secondsLow; // atime
    words[at + 7] = this.#secondsHigh;
    words[at + 8] = this.#secondsLow; // mtime
    words[at + 9] = this.#secondsHigh;
    words[at + 10] = this.#secondsLow; // ctime
    words[at + 11] = this.#secondsHigh;
    words[at + 12] = this.#nanoseconds;
    words[at + 13] = this.#nanoseconds;
    words[at + 14] = this.#nanoseconds;
    words[at + 15] = isDirectory
      ? this.#directoryMode
      : isLink
      ? LINK_MODE
      : this.#fileMode;
    // 1 for directories too: find(1) takes a link count of 2 or more for 2 + the number of subdirectories.
    words[at + 16] = 1;
    words[at + 17] = this.#uid;
    words[at + 18] = this.#gid;
    words[at + 19] = 0; // rdev
    words[at + 20] = BLOCK_SIZE;
    words[at + 21] = 0; // flags
  }

  /** Splits milliseconds into seconds and nanoseconds. Times before 1970 have negative seconds. */
  #setTime(mtime: number): void {
    const seconds = Math.floor(mtime / 1000);
    this.#mtime = mtime;
    this.#secondsLow = seconds >>> 0;
    this.#secondsHigh = Math.floor(seconds / 0x1_0000_0000) >>> 0;
    this.#nanoseconds = Math.floor((mtime - seconds * 1000) * 1e6);
  }
}

/** Writes a `struct fuse_entry_out` that makes the kernel cache that a name does not exist. */
export function putNegativeEntry(words: Uint32Array, at: number): void {
  clearEntry(words, at);
  words[(at >>> 2) + 4] = CACHE_SECONDS; // entry_valid
}

/** Writes a `struct fuse_entry_out` of zeros: in a listing, the kernel creates no node for it. */
export function clearEntry(words: Uint32Array, at: number): void {
  words.fill(0, at >>> 2, at + ENTRY_OUT_SIZE >>> 2);
}
