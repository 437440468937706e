const READ_AND_WRITE =
  "--allow-read --allow-write (and --allow-ffi where file names are not UTF-8)";

/** Permissions that commands can do with; what is not listed takes them all. */
const ENOUGH: Record<string, string> = {
  bag: READ_AND_WRITE,
  cat: "--allow-read",
  check: "--allow-read",
  extract: READ_AND_WRITE,
  gulp: "--allow-read --allow-write (and --allow-run=ffmpeg for videos)",
  info: "--allow-read",
  ls: "--allow-read",
  pack: READ_AND_WRITE,
  records: "--allow-read",
  stat: "--allow-read",
  tree: "--allow-read",
  write: READ_AND_WRITE,
};

/**
 * Says which flags Deno was run without.
 *
 * @param args The command line, to name the flags that its command takes.
 */
export function permissionMessage(
  error: Deno.errors.NotCapable,
  args: readonly string[],
): string {
  const enough = ENOUGH[args[0] ?? ""];
  const [what] = error.message.split(", run again");
  return `Deno lacks a permission (${what}): run recordfs as ` +
    "`deno run -A cli.ts …`" +
    (enough === undefined ? "" : `, or at least with ${enough}`);
}
