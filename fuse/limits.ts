/**
 * Largest READ and directory reply, in bytes: `FUSE_MAX_MAX_PAGES` (256) pages of 4 KiB, the most a kernel
 * allows unless `fs.fuse.max_pages_limit` is raised.
 */
export const MAX_TRANSFER = 1 << 20;

/** `max_pages` of INIT that matches {@linkcode MAX_TRANSFER}. */
export const MAX_PAGES = 256;

/** `max_write` of INIT: the smallest value the kernel accepts, since nothing is written. */
export const MAX_WRITE = 4096;

/**
 * Size of the request buffer in bytes. The kernel requires `FUSE_MIN_READ_BUFFER` (8192) and room for a
 * WRITE of {@linkcode MAX_WRITE}; the rest makes BATCH_FORGETs longer and so rarer.
 */
export const REQUEST_BUFFER_SIZE = 1 << 16;

/**
 * Default number of serving threads: one per processor, at least two, so that a thread that waits for the disk
 * does not hold up the mount, and at most eight. More threads than processors only compete: on two processors, a
 * third thread cost up to a sixth of the rate of two and of eight readers.
 */
export const DEFAULT_WORKERS: number = Math.min(
  Math.max(navigator.hardwareConcurrency, 2),
  8,
);

/** Largest number of threads of a mount. Each has its own JavaScript heap. */
export const MOST_WORKERS = 64;

/** Number of counters of a thread, as 64-bit floats. */
export const COUNTS = 72;

/** Bytes of the counters of all possible threads of a mount: the serving threads, then the fetch thread. */
export const COUNTS_SIZE: number = (MOST_WORKERS + 1) * COUNTS *
  Float64Array.BYTES_PER_ELEMENT;

/** Largest listing page to write ahead, in bytes: what `readdir` of the C library requests. */
export const LARGEST_PAGE_AHEAD = 1 << 15;

/** Pages kept ready for one reader: the thread that writes them gets to it only every few requests. */
export const PAGES_READY = 4;

/** Pages that can be ready or in progress at a time, for all readers. */
export const PAGES_AHEAD = 2 * PAGES_READY;

/** Longest name that statfs(2) reports, `NAME_MAX` of `linux/limits.h`. Lookup still finds longer ones. */
export const NAME_MAX = 255;

/** Longest name that the kernel accepts in a listing: `FUSE_NAME_MAX` in `fs/fuse/fuse_i.h`. */
export const LONGEST_NAME = 1024;
