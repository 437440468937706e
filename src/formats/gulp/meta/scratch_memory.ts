/** Below that, memory comes from the heap of the C library, as always. */
const LARGE = 1 << 20;

/**
 * glibc maps what is larger than that by itself and unmaps it when it is freed
 * (`DEFAULT_MMAP_THRESHOLD_MAX`, malloc/malloc.c); smaller blocks may come from its heap, where what is
 * freed below others stays with the process. Pages that are never touched cost nothing.
 */
const ALWAYS_MAPPED = (32 << 20) + 4096;

/** A buffer of at least `size` bytes that is to be given back soon, by {@linkcode release}. */
export function scratchBuffer(size: number): ArrayBuffer {
  return new ArrayBuffer(size < LARGE ? size : Math.max(size, ALWAYS_MAPPED));
}

/**
 * Gives back the memory of an array that is not used any more, now: until it is collected as garbage,
 * it would stay beside what is kept, and be larger.
 */
export function release(
  { buffer }: { readonly buffer: ArrayBufferLike },
): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
