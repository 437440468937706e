import { addressOf, libc } from "../libc.ts";

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
