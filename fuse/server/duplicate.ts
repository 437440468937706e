import { lastErrno, libc } from "../libc.ts";

/** `F_DUPFD_CLOEXEC`, from `linux/fcntl.h`. */
const F_DUPFD_CLOEXEC = 1030;

/**
 * Makes another number for an open file, to be closed by itself.
 *
 * @returns The number, or the error number, negative.
 */
export function duplicate(fd: number): number {
  const copy = libc().fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? -lastErrno() : copy;
}
