/**
 * Error numbers that recordfs sends and receives, from `asm-generic/errno.h`: the same on every
 * architecture that Deno runs on.
 *
 * @module
 */

export const Errno = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  ENOMEM: 12,
  EFAULT: 14,
  EBUSY: 16,
  ENODEV: 19,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  EROFS: 30,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  EPROTO: 71,
  EOPNOTSUPP: 95,
  ENOTCONN: 107,
} as const;

const names = new Map<number, string>(
  Object.entries(Errno).map(([name, value]) => [value, name]),
);

/** Returns the name of an error number, or `errno N` if it is not listed here. */
export function errnoName(errno: number): string {
  return names.get(errno) ?? `errno ${errno}`;
}
