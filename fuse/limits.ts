/**
 * Largest READ and directory reply, in bytes: `FUSE_MAX_MAX_PAGES` (256) pages of 4 KiB, what a kernel
 * allows without raising `fs.fuse.max_pages_limit`.
 */
export const MAX_TRANSFER = 1 << 20;

/** `max_pages` of INIT that goes with {@linkcode MAX_TRANSFER}. */
export const MAX_PAGES = 256;

/** `max_write` of INIT: the smallest that the kernel takes, since nothing is written. */
export const MAX_WRITE = 4096;

/**
 * Bytes of the buffer requests are read into. The kernel demands `FUSE_MIN_READ_BUFFER` (8192) and
 * room for a WRITE of {@linkcode MAX_WRITE}; the rest makes BATCH_FORGETs longer and so rarer.
 */
export const REQUEST_BUFFER_SIZE = 1 << 16;

/**
 * Threads that serve a mount unless told otherwise: one for each processor, at least two, so that one which
 * waits for the disk does not hold up all, and at most eight. More than there are processors only take time
 * from each other: on two, a third thread cost up to a sixth of the rate of two and of eight readers.
 */
export const DEFAULT_WORKERS: number = Math.min(
  Math.max(navigator.hardwareConcurrency, 2),
  8,
);

/** Most threads that a mount can be given: each has a JavaScript heap of its own. */
export const MOST_WORKERS = 64;

/** Numbers that a thread counts its requests in, 64-bit floating point. */
export const COUNTS = 72;

/** Bytes of the counts of all threads that a mount can have: those that serve, and at last the one that fetches. */
export const COUNTS_SIZE: number = (MOST_WORKERS + 1) * COUNTS *
  Float64Array.BYTES_PER_ELEMENT;

/** Largest page of a listing that is written ahead, in bytes: what the C library's `readdir` asks for. */
export const LARGEST_PAGE_AHEAD = 1 << 15;

/** Pages that are kept ready for one reader: the thread that writes them comes by every few requests. */
export const PAGES_READY = 4;

/** Pages that can be ready or on their way at a time, those for other readers included. */
export const PAGES_AHEAD = 2 * PAGES_READY;

/**
 * Longest name that statfs(2) promises, `NAME_MAX` of `linux/limits.h`. A longer one that a container has is
 * found all the same.
 */
export const NAME_MAX = 255;

/** Longest name the kernel takes from a listing: `FUSE_NAME_MAX` in `fs/fuse/fuse_i.h`. */
export const LONGEST_NAME = 1024;
