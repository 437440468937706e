import { cString, libc } from "./libc.ts";
import { OpenFlag } from "./wire/flags.ts";

/** `F_SETFD` and `FD_CLOEXEC` of fcntl(2), from `asm-generic/fcntl.h`. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/**
 * Opens descriptors of /dev/fuse, of no connection yet, that every process inherits which this one
 * starts. A supervisor that holds them keeps the mount which is served through them, and what was in
 * flight, when its server dies.
 *
 * @returns Their numbers; none where this user may not open the device.
 */
export function openHeld(count: number): readonly number[] {
  const held: number[] = [];
  for (let i = 0; i < count; i++) {
    const fd = libc().open(cString("/dev/fuse"), OpenFlag.RDWR);
    if (fd < 0) {
      closeHeld(held);
      return [];
    }
    held.push(fd);
  }
  return held;
}

/** Closes this process's numbers of held descriptors. */
export function closeHeld(held: readonly number[]): void {
  for (const fd of held) libc().close(fd);
}

/** Has no further process inherit them. */
export function keepToThisProcess(held: readonly number[]): void {
  for (const fd of held) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
}
