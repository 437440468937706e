import { cString, libc } from "../libc.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { OpenFlag } from "../wire/flags.ts";

/** Distance that the kernel reads ahead of a sequential reader: one request of the largest size. */
const READ_AHEAD = MAX_TRANSFER;

/**
 * Has the kernel read further ahead on a mount than its usual 128 KiB. Only root may; otherwise, or
 * where /sys is read-only, it stays as it is.
 *
 * @param device The mount's device number, as mountinfo has it: `0:57`.
 */
export function raiseReadAhead(device: string): void {
  const { open, write, close } = libc();
  // Through libc, since Deno's own writing to /sys takes `--allow-all`.
  const path = `/sys/class/bdi/${device}/read_ahead_kb`;
  const fd = open(cString(path), OpenFlag.WRONLY | OpenFlag.CLOEXEC);
  if (fd < 0) return;
  const text = new TextEncoder().encode(`${READ_AHEAD / 1024}`);
  write(fd, text, text.length);
  close(fd);
}
