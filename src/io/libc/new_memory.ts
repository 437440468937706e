import { libcIfPermitted } from "./libc.ts";

/** Number of `<sys/mman.h>`. */
const MADV_HUGEPAGE = 14;

/** Numbers of `<malloc.h>`, and what they are set to: below 32 MiB nothing is mapped by itself, the most that can be. */
const KEPT = [
  [-1, 256 << 20], // M_TRIM_THRESHOLD
  [-2, 64 << 20], // M_TOP_PAD
  [-3, 32 << 20], // M_MMAP_THRESHOLD
] as const;

/**
 * Bytes that direct reads of open(2) want their memory, their place and their length to be multiples of, on every disk;
 * also a page.
 */
export const BLOCK = 4096;

/** Bytes from which on large pages, which have 2 MiB, are worth asking for. */
const LARGE = 4 << 20;

/**
 * Memory of zeros, in large pages where the system has them and the C library may be called. A page's first use
 * interrupts the program: in pages of 4 KiB, 39 MB take 36 ms to write for the first time, in large ones 7; in a virtual
 * machine the first may be 200 ms.
 *
 * @throws {RangeError} If there is no such memory.
 */
export function newMemory(length: number): ArrayBuffer {
  return inLargePages(new ArrayBuffer(length));
}

/** {@linkcode newMemory} that threads share. */
export function newSharedMemory(length: number): SharedArrayBuffer {
  return inLargePages(new SharedArrayBuffer(length));
}

/** Memory of zeros that direct reads may write to, where the C library may be called. */
export function blockMemory(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length + BLOCK);
  const blocks = libcIfPermitted() === undefined ? bytes : fromBlock(bytes);
  return blocks.subarray(0, length);
}

/**
 * Has the C library keep memory that was freed, where it may be called. It gives back what is more than 128 KiB, and
 * each piece of a large file would be read to pages that the system has to bring and clear first: a server sends such
 * files a third slower then.
 */
export function keepFreedMemory(): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  try {
    for (const [what, bytes] of KEPT) libc.mallopt(what, bytes);
  } catch {
    // musl goes by the same name, and has no such function.
  }
}

/** Has the C library give freed memory back to the system, where it may be called. */
export function giveBackFreedMemory(): void {
  try {
    libcIfPermitted()?.mallocTrim(0n);
  } catch {
    // musl has no such function.
  }
}

function inLargePages<Memory extends ArrayBufferLike>(memory: Memory): Memory {
  const libc = memory.byteLength < LARGE ? undefined : libcIfPermitted();
  if (libc === undefined) return memory;
  const pages = fromBlock(new Uint8Array(memory as ArrayBuffer));
  const length = pages.length - pages.length % BLOCK;
  libc.madvise(pages, BigInt(length), MADV_HUGEPAGE); // where it is refused, pages are small
  return memory;
}

/** What starts at a block, which is at most a block behind the start. */
function fromBlock(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const place = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  return bytes.subarray(BLOCK - Number(place % BigInt(BLOCK)));
}
