import { cString, libc } from "../libc.ts";
import { MOST_WORKERS } from "../limits.ts";
import { OpenFlag } from "../wire/flags.ts";

/** `F_DUPFD`, `F_SETFD` and `FD_CLOEXEC` of fcntl(2), from `asm-generic/fcntl.h`. */
const F_DUPFD = 0;
const F_SETFD = 2;
const FD_CLOEXEC = 1;

const STDERR = 2;

/** Lower numbers are for the shell: a POSIX script can only name one-digit descriptors. */
const LOWEST = 10;

/**
 * Opens unconnected descriptors of /dev/fuse that child processes inherit. While a supervisor holds them, the
 * mount served through them, and its requests in flight, survive the death of the server.
 *
 * @param needed Minimum number. Opens as many as a mount can have threads, so that a later server may have more,
 * unless the descriptor limit is lower.
 * @returns The descriptors; none if this user may not open the device.
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
 * Creates a file in memory for the counters of all threads of a mount, including those of later servers. It lasts
 * while any process has it open, so a killed server loses no counts.
 *
 * @returns Its descriptor, which child processes inherit, or -1.
 */
export function openCounts(): number {
  return aboveLowest(libc().memfdCreate(cString("recordfs counts"), 0));
}

/** Moves a newly opened descriptor to a number that a shell script does not use. */
function aboveLowest(fd: number): number {
  if (fd < 0 || fd >= LOWEST) return fd;
  const moved = libc().fcntl(fd, F_DUPFD, LOWEST);
  libc().close(fd);
  return moved;
}

export function closeHeld(held: readonly number[]): void {
  for (const fd of held) libc().close(fd);
}

/** Stops child processes from inheriting the descriptors. */
export function keepToThisProcess(held: readonly number[]): void {
  for (const fd of held) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/** Lets child processes inherit the descriptors. */
export function letInherit(held: readonly number[]): void {
  for (const fd of held) libc().fcntl(fd, F_SETFD, 0);
}

/**
 * Sets close-on-exec on all descriptors except standard input, output and error. Otherwise a pipe or lock of the
 * caller would stay open as long as the mount.
 */
export function closeOnExec(): void {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > STDERR) libc().fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/** Formats descriptors as one word of a command line, such as `17-80`. */
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

/** Parses the result of {@linkcode formatHeld}. */
export function parseHeld(text: string): readonly number[] {
  return text.split(",").filter(Boolean).flatMap((range) => {
    const [first, last] = range.split("-").map(Number) as [number, number?];
    const count = (last ?? first) - first + 1;
    return Array.from({ length: count }, (_, i) => first + i);
  });
}
