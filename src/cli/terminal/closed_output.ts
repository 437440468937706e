/** `O_RDWR` among the flags of an open file, from `asm-generic/fcntl.h`. */
const READ_AND_WRITE = 0o2;
const ACCESS = 0o3;

/** Programs that close descriptors on request, or pass on closed ones. */
const CLOSES =
  /^-?((ba|c|da|fi|k|mk|tc|z|a)?sh|busybox|deno|env|make|nice|nohup|su|sudo|timeout|xargs)$/;

/**
 * Whether standard output is closed, as after `>&-`.
 *
 * Writing does not fail: Rust's runtime, in Deno, replaces a closed descriptor by /dev/null, opened for reading and
 * writing, whereas a shell's `>/dev/null` is for writing only. But Python's `subprocess.DEVNULL` and Node's `ignore`
 * intentionally open it for both as well. So this only counts if the parent is a program that does not do so.
 */
export function isOutputClosed(): boolean {
  try {
    if (!isNullForBoth("self", 1)) return false;
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(
      Deno.readTextFileSync("/proc/self/status"),
    )!;
    const name = Deno.readTextFileSync(`/proc/${parent}/comm`);
    // A parent whose own output is /dev/null passes that on.
    return CLOSES.test(name.trimEnd()) && !isNull(parent!, 1);
  } catch {
    return false; // no procfs, or no permission to read it
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
    if (error instanceof Deno.errors.NotFound) return false; // closed
    throw error;
  }
}
