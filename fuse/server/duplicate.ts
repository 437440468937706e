import { lastErrno, libc } from "../libc.ts";

/** `F_DUPFD_CLOEXEC`, from `linux/fcntl.h`. */
const F_DUPFD_CLOEXEC = 1030;

/** Duplicates a descriptor. Returns the duplicate, which the caller closes, or the negated error number. */
export function duplicate(fd: number): number {
  const copy = libc().fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? -lastErrno() : copy;
}
