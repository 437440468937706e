/** Calls of a server to the kernel other than requests and replies: cloning descriptors, and resending requests. */
import { addressOf, cString, lastErrno, libc } from "../libc.ts";
import { OpenFlag } from "../wire/flags.ts";

/** `FUSE_DEV_IOC_CLONE`, `_IOR(229, 0, uint32_t)` in `linux/fuse.h`. */
const FUSE_DEV_IOC_CLONE = 0x8004e500n;

/**
 * Opens another descriptor of a mount's connection, after INIT, so that another thread can serve it independently.
 * Returns the negated error number on failure.
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

/** Attaches an unconnected descriptor of /dev/fuse to a mount's connection. Returns the error number, or 0. */
export function cloneOnto(fd: number, unused: number): number {
  const argument = new Uint8Array(Uint32Array.of(fd).buffer);
  const result = libc().ioctl(unused, FUSE_DEV_IOC_CLONE, argument);
  return result === 0 ? 0 : lastErrno();
}

/** Bytes of `struct fuse_out_header`. */
const NOTIFICATION_SIZE = 16;

/** `FUSE_NOTIFY_RESEND` of `linux/fuse.h`, stored in the error field of a reply. */
const FUSE_NOTIFY_RESEND = 7;

/**
 * Asks the kernel to resend every request that a server of the mount has read and not answered. Needs an
 * agreement on `HAS_RESEND`. If the mount has ended, this has no effect; the next read reports the end.
 *
 * @param fd Any descriptor of the connection. No thread of any process may be serving it.
 */
export function askToResend(fd: number): void {
  const notification = new Uint32Array(NOTIFICATION_SIZE / 4);
  notification[0] = NOTIFICATION_SIZE;
  notification[1] = FUSE_NOTIFY_RESEND; // id 0 makes it a notification
  // struct iovec: address and length.
  const vector = new BigUint64Array(2);
  const bytes = new Uint8Array(notification.buffer);
  vector[0] = BigInt(addressOf(bytes));
  vector[1] = BigInt(bytes.length);
  libc().writev(fd, new Uint8Array(vector.buffer), 1);
}
