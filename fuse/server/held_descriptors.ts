import { cString, libc } from "../libc.ts";
import { MOST_WORKERS } from "../limits.ts";
import { OpenFlag } from "../wire/flags.ts";

/** `F_DUPFD`, `F_SETFD` and `FD_CLOEXEC` of fcntl(2), from `asm-generic/fcntl.h`. */
const F_DUPFD = 0;
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** Descriptor of standard error. */
const STDERR = 2;

/** Numbers below are a shell's: a POSIX script can only name those of one digit. */
const LOWEST = 10;

/**
 * Opens descriptors of /dev/fuse, of no connection yet, that every process inherits which this one
 * starts. A supervisor that holds them keeps the mount which is served through them, and what was in
 * flight, when its server dies.
 *
 * @param needed How many there must be. There are as many as a mount can have threads, so that a later
 * server may have more, unless the limit of descriptors is lower.
 * @returns Their numbers; none where this user may not open the device.
 */
export function openHeld(needed: number): readonly number[] {
  const held: number[] = [];
  const device = cString("/dev/fuse");
  while (held.length < MOST_WORKERS) {
    const fd = aboveLowest(libc().open(device, OpenFlag.RDWR));
    if (fd < 0) break;
    held.push(fd);
  }
  if (held.length >= needed) return held;
  closeHeld(held);
  return [];
}

/**
 * Makes a file in memory for the counts of all of a mount's threads, of the servers to come as well: it
 * lasts as long as any process has it open, so a server that is killed loses none.
 *
 * @returns Its descriptor, which every process inherits that this one starts, or -1.
 */
export function openCounts(): number {
  return aboveLowest(libc().memfdCreate(cString("recordfs counts"), 0));
}

/** Moves a descriptor that was just opened to a number that a shell script has no other use for. */
function aboveLowest(fd: number): number {
  if (fd < 0 || fd >= LOWEST) return fd;
  const moved = libc().fcntl(fd, F_DUPFD, LOWEST);
  libc().close(fd);
  return moved;
}

/** Closes this process's numbers of held descriptors. */
export function closeHeld(held: readonly number[]): void {
  for (const fd of held) libc().close(fd);
}

/** Has no further process inherit them. */
export function keepToThisProcess(held: readonly number[]): void {
  for (const fd of held) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/** Has processes inherit them from now on. */
export function letInherit(held: readonly number[]): void {
  for (const fd of held) libc().fcntl(fd, F_SETFD, 0);
}

/**
 * Has nothing be inherited that this process has open beyond standard input, output and error: a pipe or
 * a lock of the caller's would otherwise stay open as long as the mount.
 */
export function closeOnExec(): void {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > STDERR) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/** Descriptors as one word of a command line, such as `17-80`. */
export function formatHeld(held: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const fd of held) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === fd - 1) range.last = fd;
    else ranges.push({ first: fd, last: fd });
  }
  return ranges.map(({ first, last }) =>
    first === last ? `${first}` : `${first}-${last}`
  ).join();
}

/** Reads what {@linkcode formatHeld} wrote. */
export function parseHeld(text: string): readonly number[] {
  return text.split(",").filter(Boolean).flatMap((range) => {
    const [first, last] = range.split("-").map(Number) as [number, number?];
    const count = (last ?? first) - first + 1;
    return Array.from({ length: count }, (_, i) => first + i);
  });
}
