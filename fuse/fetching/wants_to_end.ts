import { readSpecialFile } from "../mounting/read_special_file.ts";

/** SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM, as bits of the masks in proc_pid_status(5). */
const ENDING = [1, 2, 3, 9, 15].reduce(
  (mask, signal) => mask | 1n << BigInt(signal - 1),
  0n,
);

/**
 * Tells whether a thread that waits in the kernel has been sent a signal to end. Others, such as timers and those by
 * which some languages switch between threads, are no reason to fail its read: few programs try again.
 *
 * @param pid As the kernel has it in requests: 0 where it is of another container.
 */
export function wantsToEnd(pid: number): boolean {
  if (pid === 0) return false;
  let text: string;
  try {
    text = readSpecialFile(`/proc/${pid}/status`);
  } catch {
    return true; // it has gone
  }
  const mask = (name: string) =>
    BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(text)![1]}`);
  const pending = mask("SigPnd") | mask("ShdPnd");
  return (pending & ~mask("SigBlk") & ENDING) !== 0n;
}
