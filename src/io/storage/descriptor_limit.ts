import { LibcFunctions } from "../libc/libc.ts";

/** `RLIMIT_NOFILE`, from `asm-generic/resource.h`. */
const RLIMIT_NOFILE = 7;

const functions = new LibcFunctions("getrlimit");

/** Descriptors that one thread keeps where the process may have many, or where the system cannot be asked. */
const MOST = 128;
/** Fewer would be opened and closed all the time. */
const LEAST = 8;
/** A mount has four threads with files of their own, and the process needs some for other things. */
const SHARE = 8;

/**
 * How many descriptors one thread may keep open for later use: a share of what the process may have
 * (`ulimit -n`), which Linux tells where `--allow-ffi` is given; it is not asked for.
 */
export function mostIdleDescriptors(): number {
  // struct rlimit: the soft and the hard limit, 64 bits each.
  const limits = new BigUint64Array(2);
  const libc = functions.open();
  if (libc?.getrlimit(RLIMIT_NOFILE, limits) !== 0) return MOST;
  const share = Math.floor(Number(limits[0]) / SHARE);
  return Math.min(Math.max(share, LEAST), MOST);
}
