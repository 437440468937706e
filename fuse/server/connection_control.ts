/** What a server asks of the kernel beside requests and replies: further descriptors, and requests again. */
import { addressOf, cString, lastErrno, libc } from "../libc.ts";
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

/** Bytes of `struct fuse_out_header`. */
const NOTIFICATION_SIZE = 16;

/** `FUSE_NOTIFY_RESEND` of `linux/fuse.h`, where a reply has its error. */
const FUSE_NOTIFY_RESEND = 7;

/**
 * Has the kernel repeat every request that a server of the mount has read and not answered; it must
 * have agreed on `HAS_RESEND`. Nothing comes of it where the mount has ended, as its next read tells.
 *
 * @param fd Any descriptor of the connection. No thread of this or another process may be serving it.
 */
export function askToResend(fd: number): void {
  const notification = new Uint32Array(NOTIFICATION_SIZE / 4);
  notification[0] = NOTIFICATION_SIZE;
  notification[1] = FUSE_NOTIFY_RESEND; // the id, 0, makes it a notification
  // struct iovec: address and length.
  const vector = new BigUint64Array(2);
  const bytes = new Uint8Array(notification.buffer);
  vector[0] = BigInt(addressOf(bytes));
  vector[1] = BigInt(bytes.length);
  libc().writev(fd, new Uint8Array(vector.buffer), 1);
}
