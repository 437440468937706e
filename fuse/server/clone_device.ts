import { cString, lastErrno, libc } from "../libc.ts";
import { OpenFlag } from "../wire/flags.ts";

/** `FUSE_DEV_IOC_CLONE`, `_IOR(229, 0, uint32_t)` in `linux/fuse.h`. */
const FUSE_DEV_IOC_CLONE = 0x8004e500n;

/**
 * Opens a further descriptor of a mount's connection, so that another thread can serve it without
 * waiting for the first.
 *
 * @param fd A descriptor of the connection, after INIT.
 * @returns The new descriptor, or the error number, negative.
 */
export function cloneDevice(fd: number): number {
  const { open, close } = libc();
  const clone = open(cString("/dev/fuse"), OpenFlag.RDWR | OpenFlag.CLOEXEC);
  if (clone < 0) return -lastErrno();
  const errno = cloneOnto(fd, clone);
  if (errno === 0) return clone;
  close(clone);
  return -errno;
}

/**
 * Makes a descriptor of /dev/fuse that belongs to no connection one of a mount's.
 *
 * @param fd A descriptor of the connection.
 * @returns The error number, 0 for success.
 */
export function cloneOnto(fd: number, unused: number): number {
  const argument = new Uint8Array(Uint32Array.of(fd).buffer);
  const result = libc().ioctl(unused, FUSE_DEV_IOC_CLONE, argument);
  return result === 0 ? 0 : lastErrno();
}
