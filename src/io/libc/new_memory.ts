import { libcIfPermitted } from "./libc.ts";

/** From `<sys/mman.h>`. */
const MADV_HUGEPAGE = 14;

/** Parameters from `<malloc.h>` and their values. Below 32 MiB, the maximum, nothing gets a mapping of its own. */
const KEPT = [
  [-1, 256 << 20], // M_TRIM_THRESHOLD
  [-2, 64 << 20], // M_TOP_PAD
  [-3, 32 << 20], // M_MMAP_THRESHOLD
] as const;

/** Alignment of memory, offset and length that direct reads of open(2) need on every disk; also a page size. */
export const MEMORY_PAGE = 4096;

/** Size from which on large pages, of 2 MiB, pay off. */
const LARGE = 4 << 20;

/**
 * Allocates zeroed memory, in large pages if the system supports them and the C library may be called. The first use of
 * a page interrupts the program: first writing 39 MB takes 36 ms in pages of 4 KiB, and 7 ms in large ones; in a
 * virtual machine, the former may take 200 ms.
 */
export function newMemory(length: number): ArrayBuffer {
  return inLargePages(new ArrayBuffer(length));
}

/** {@linkcode newMemory} that threads can share. */
export function newSharedMemory(length: number): SharedArrayBuffer {
  return inLargePages(new SharedArrayBuffer(length));
}

/** Allocates zeroed memory, aligned for direct reads if the C library may be called. */
export function blockMemory(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length + MEMORY_PAGE);
  const blocks = libcIfPermitted() === undefined ? bytes : fromBlock(bytes);
  return blocks.subarray(0, length);
}

/**
 * Makes the C library keep freed memory, if it may be called. By default it returns blocks above 128 KiB to the system.
 * Each piece of a large file would then be read into pages that the system must first map and clear, which makes a
 * server send such files a third slower.
 */
export function keepFreedMemory(): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  try {
    for (const [what, bytes] of KEPT) libc.mallopt(what, bytes);
  } catch {
    // musl goes by the same name, but lacks this function.
  }
}

/** Makes the C library return freed memory to the system, if it may be called. */
export function giveBackFreedMemory(): void {
  try {
    libcIfPermitted()?.mallocTrim(0n);
  } catch {
    // musl has no such function under the same library name.
  }
}

function inLargePages<Memory extends ArrayBufferLike>(memory: Memory): Memory {
  const libc = memory.byteLength < LARGE ? undefined : libcIfPermitted();
  if (libc === undefined) return memory;
  const pages = fromBlock(new Uint8Array(memory as ArrayBuffer));
  const length = pages.length - pages.length % MEMORY_PAGE;
  libc.madvise(pages, BigInt(length), MADV_HUGEPAGE); // if it fails, pages stay small
  return memory;
}

/** Returns the part from the next block boundary on, which is at most a block behind the start. */
function fromBlock(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const place = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  return bytes.subarray(MEMORY_PAGE - Number(place % BigInt(MEMORY_PAGE)));
}
