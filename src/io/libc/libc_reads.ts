/**
 * The C library's reads. Deno has none that leave what is not in memory alone, and its own take a
 * microsecond more.
 *
 * @module
 */
import { errnoOf, type Libc, libcIfPermitted } from "./libc.ts";
import { cName, Open } from "./libc_files.ts";

/** `SEEK_END`, from `unistd.h`. */
const SEEK_END = 2;
/** `RWF_NOWAIT`, from `linux/fs.h`: read what is in memory, do not wait for the rest. */
const RWF_NOWAIT = 8;
/** `EAGAIN`, from `asm-generic/errno-base.h`. */
const EAGAIN = 11;
/** Memory whose address is remembered has so many bytes at most: remembering it keeps it. */
const LONGEST_KNOWN = 1 << 16;

/** What `struct statfs` fits into: it has 120 bytes on every 64-bit Linux; its first word says the file system. */
const STATFS_WORDS = 32;
/** `TMPFS_MAGIC` and `RAMFS_MAGIC`, from `linux/magic.h`. */
const IN_MEMORY: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** Answer of {@linkcode LibcReads.cached} where the file system has no such reads. */
export const UNSUPPORTED = -1;

/** Reads of a descriptor. Right for one thread only, as each thread has its own. */
export class LibcReads {
  readonly #libc: Libc;
  /** `struct iovec`: an address and a length, of 64 bits each. */
  readonly #target = new BigUint64Array(2);
  readonly #words = new Uint32Array(this.#target.buffer);
  readonly #bytes = new Uint8Array(this.#target.buffer);
  /** The memory that the address is of, and where in it. */
  #known: ArrayBufferLike | undefined;
  #knownOffset = 0;

  /** @param libc The opened library. */
  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /**
   * Opens a file for reading, whether Deno permits that or not: it has to be asked as well.
   *
   * @returns Its descriptor, which Deno does not know, or a negative number where that was refused.
   */
  open(path: string): number {
    // What has taken a regular file's place may be a pipe, which is not waited for.
    const flags = Open.RDONLY | Open.CLOEXEC | Open.NONBLOCK;
    return this.#libc.open(cName(path), flags);
  }

  /** {@linkcode LibcReads.open} for {@linkcode LibcReads.direct}, refused where the file system has no such reads. */
  openDirect(path: string): number {
    const flags = Open.RDONLY | Open.CLOEXEC | Open.DIRECT;
    return this.#libc.open(cName(path), flags);
  }

  /**
   * Reads past the system's memory, on another thread; place, length and memory are of whole blocks.
   *
   * @returns As {@linkcode LibcReads.read} does.
   */
  direct(
    fd: number,
    into: Uint8Array<ArrayBuffer>,
    offset: number,
  ): Promise<number> {
    const { preadElsewhere } = this.#libc;
    return preadElsewhere(fd, into, into.byteLength, BigInt(offset));
  }

  close(fd: number): void {
    this.#libc.close(fd);
  }

  /** Tells whether an open file lies in memory, not on a disk. */
  isInMemory(fd: number): boolean {
    const room = new Uint32Array(STATFS_WORDS);
    const bytes = new Uint8Array(room.buffer);
    return this.#libc.fstatfs(fd, bytes) === 0 && IN_MEMORY.has(room[0]!);
  }

  /** Size of an open file, or -1. */
  sizeOf(fd: number): number {
    return Number(this.#libc.lseek(fd, 0n, SEEK_END));
  }

  /**
   * pread(2) of at most 2^31 - 1 bytes.
   *
   * @returns How many bytes were read, or a negative number where that was refused.
   */
  read(fd: number, into: Uint8Array, offset: number): number {
    return this.#libc.pread(
      fd,
      memoryOf(into),
      into.byteLength,
      BigInt(offset),
    );
  }

  /**
   * Reads what is in the system's memory, at most 2^31 - 1 bytes.
   *
   * @returns How many bytes were read, 0 where the next one is on the disk, or {@linkcode UNSUPPORTED}.
   */
  cached(fd: number, into: Uint8Array, offset: number): number {
    // V8 keeps arrays of up to 64 bytes in its heap, where they may move; asking for their buffer moves them out.
    const { buffer, byteOffset } = into;
    if (buffer !== this.#known || byteOffset !== this.#knownOffset) {
      const memory = memoryOf(into);
      // It answers with its first argument; asking Deno for the address takes ten times as long.
      this.#target[0] = this.#libc.memmove(memory, memory, 0n);
      this.#known = buffer.byteLength <= LONGEST_KNOWN ? buffer : undefined;
      this.#knownOffset = byteOffset;
    }
    this.#words[2] = into.byteLength;
    const got = this.#libc.preadv2(
      fd,
      this.#bytes,
      1,
      BigInt(offset),
      RWF_NOWAIT,
    );
    if (got >= 0) return got;
    return errnoOf(this.#libc) === EAGAIN ? 0 : UNSUPPORTED;
  }
}

/** FFI takes memory that threads share as well; only its types do not say so. */
function memoryOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

let reads: LibcReads | undefined;

/**
 * The C library's reads, or `undefined` where there are none: without `--allow-ffi` (it is not asked
 * for), or where this is not Linux with the GNU C library.
 */
export function libcReads(): LibcReads | undefined {
  if (reads !== undefined) return reads;
  const libc = libcIfPermitted();
  return libc && (reads = new LibcReads(libc));
}
