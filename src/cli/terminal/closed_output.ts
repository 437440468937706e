/** `O_RDWR` among the flags of an open file, from `asm-generic/fcntl.h`. */
const READ_AND_WRITE = 0o2;
const ACCESS = 0o3;

/** Programs that close what they are told to, or hand on what somebody else has closed. */
const CLOSES =
  /^-?((ba|c|da|fi|k|mk|tc|z|a)?sh|busybox|deno|env|make|nice|nohup|su|sudo|timeout|xargs)$/;

/**
 * Whether there is no standard output, as after `>&-`.
 *
 * That is not seen by writing: Rust's runtime, in Deno, has opened /dev/null in place of what was closed, for
 * reading and writing, where a shell's `>/dev/null` is for writing only. But Python's `subprocess.DEVNULL` and Node's
 * `ignore` open it so as well, and mean it. So it counts only where one has started us that does not.
 */
export function isOutputClosed(): boolean {
  try {
    if (!isNullForBoth("self", 1)) return false;
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(
      Deno.readTextFileSync("/proc/self/status"),
    )!;
    const name = Deno.readTextFileSync(`/proc/${parent}/comm`);
    // One whose own output goes to /dev/null hands that on.
    return CLOSES.test(name.trimEnd()) && !isNull(parent!, 1);
  } catch {
    return false; // no such files, or no permission to look at them
  }
}

function isNullForBoth(process: string, fd: number): boolean {
  if (!isNull(process, fd)) return false;
  const info = Deno.readTextFileSync(`/proc/${process}/fdinfo/${fd}`);
  const [, flags] = /^flags:\s+([0-7]+)$/m.exec(info)!;
  return (parseInt(flags!, 8) & ACCESS) === READ_AND_WRITE;
}

function isNull(process: string, fd: number): boolean {
  try {
    return Deno.readLinkSync(`/proc/${process}/fd/${fd}`) === "/dev/null";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false; // it is closed
    throw error;
  }
}
