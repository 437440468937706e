import { cString, lastErrno, libc } from "./libc.ts";
import { OpenFlag } from "./wire/flags.ts";

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
  const { open, ioctl, close } = libc();
  const clone = open(cString("/dev/fuse"), OpenFlag.RDWR | OpenFlag.CLOEXEC);
  if (clone < 0) return -lastErrno();
  const argument = new Uint8Array(Uint32Array.of(fd).buffer);
  if (ioctl(clone, FUSE_DEV_IOC_CLONE, argument) === 0) return clone;
  const errno = lastErrno();
  close(clone);
  return -errno;
}
