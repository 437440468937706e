/**
 * Reads through the C library. Deno has no reads that skip what is not in memory, and its own take a microsecond more.
 *
 * @module
 */
import { errnoOf, type Libc, libcIfPermitted } from "./libc.ts";
import { cName, Open } from "./libc_files.ts";

/** From `unistd.h`. */
const SEEK_END = 2;
/** `RWF_NOWAIT`, from `linux/fs.h`: reads only what is in memory. */
const RWF_NOWAIT = 8;
/** From `asm-generic/errno-base.h`. */
const EAGAIN = 11;
/** Largest memory, in bytes, whose address is cached. Caching the address keeps the memory alive. */
const LONGEST_KNOWN = 1 << 16;

/** Buffer for `struct statfs`, which has 120 bytes on every 64-bit Linux. Its first word identifies the file system. */
const STATFS_WORDS = 32;
/** `TMPFS_MAGIC` and `RAMFS_MAGIC`, from `linux/magic.h`. */
const IN_MEMORY: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** Result of {@linkcode LibcReads.cached} if the file system does not support it. */
export const UNSUPPORTED = -1;

/** Reads of descriptors. Each thread needs its own instance. */
export class LibcReads {
  readonly #libc: Libc;
  /** `struct iovec`: an address and a length, of 64 bits each. */
  readonly #target = new BigUint64Array(2);
  readonly #words = new Uint32Array(this.#target.buffer);
  readonly #bytes = new Uint8Array(this.#target.buffer);
  /** The memory and offset that the address is of. */
  #known: ArrayBufferLike | undefined;
  #knownOffset = 0;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /**
   * Opens a file for reading, without Deno's permission check; the caller must do that too. Returns a descriptor that
   * Deno does not know, or a negative number on error.
   */
  open(path: string): number {
    // A pipe may have replaced the regular file; do not block on it.
    const flags = Open.RDONLY | Open.CLOEXEC | Open.NONBLOCK;
    return this.#libc.open(cName(path), flags);
  }

  /** {@linkcode LibcReads.open} for {@linkcode LibcReads.direct}; fails if the file system does not support that. */
  openDirect(path: string): number {
    const flags = Open.RDONLY | Open.CLOEXEC | Open.DIRECT;
    return this.#libc.open(cName(path), flags);
  }

  /**
   * Reads directly, bypassing the page cache, on another thread. Offset, length and memory must be whole blocks.
   * Returns like {@linkcode LibcReads.read}.
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

  isInMemory(fd: number): boolean {
    const room = new Uint32Array(STATFS_WORDS);
    const bytes = new Uint8Array(room.buffer);
    return this.#libc.fstatfs(fd, bytes) === 0 && IN_MEMORY.has(room[0]!);
  }

  /** Returns the size of an open file, or -1 on error. */
  sizeOf(fd: number): number {
    return Number(this.#libc.lseek(fd, 0n, SEEK_END));
  }

  /** Calls pread(2) for at most 2^31 - 1 bytes. Returns the number of bytes read, negative on error. */
  read(fd: number, into: Uint8Array, offset: number): number {
    return this.#libc.pread(
      fd,
      memoryOf(into),
      into.byteLength,
      BigInt(offset),
    );
  }

  /**
   * Reads what is in the page cache, at most 2^31 - 1 bytes. Returns the number of bytes read, 0 if the next byte is on
   * disk, or {@linkcode UNSUPPORTED}.
   */
  cached(fd: number, into: Uint8Array, offset: number): number {
    // V8 keeps arrays of up to 64 bytes in its heap, where they may move. Accessing their buffer moves them out.
    const { buffer, byteOffset } = into;
    if (buffer !== this.#known || byteOffset !== this.#knownOffset) {
      const memory = memoryOf(into);
      // memmove returns its first argument. Asking Deno for the address takes ten times as long.
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

/** FFI accepts shared memory, too; only its types do not say so. */
function memoryOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

let reads: LibcReads | undefined;

/** Returns this thread's reads; `undefined` if {@linkcode libcIfPermitted} returns that. */
export function libcReads(): LibcReads | undefined {
  if (reads !== undefined) return reads;
  const libc = libcIfPermitted();
  return libc && (reads = new LibcReads(libc));
}
