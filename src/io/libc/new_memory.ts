import { libcIfPermitted } from "./libc.ts";

/** Number of `<sys/mman.h>`. */
const MADV_HUGEPAGE = 14;

const PAGE = 4096n;

/** Bytes from which on large pages, which have 2 MiB, are worth asking for. */
const LARGE = 4 << 20;

/**
 * Memory of zeros, in large pages where the system has them and the C library may be called. A page's first use
 * interrupts the program: in pages of 4 KiB, 39 MB take 36 ms to write for the first time, in large ones 7.
 *
 * @throws {RangeError} If there is no such memory.
 */
export function newMemory(length: number, isShared: boolean): ArrayBufferLike {
  const buffer = isShared
    ? new SharedArrayBuffer(length)
    : new ArrayBuffer(length);
  if (length >= LARGE) askForLargePages(new Uint8Array(buffer as ArrayBuffer));
  return buffer;
}

function askForLargePages(bytes: Uint8Array<ArrayBuffer>): void {
  const libc = libcIfPermitted();
  if (libc === undefined) return;
  const place = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  const pages = bytes.subarray(Number(PAGE - place % PAGE));
  // Where it is refused, pages are small.
  libc.madvise(pages, BigInt(pages.length) / PAGE * PAGE, MADV_HUGEPAGE);
}
