const READ_AND_WRITE =
  "--allow-read --allow-write (and --allow-ffi where file names are not UTF-8)";

/** Permissions that suffice for a command; other commands need all. */
const ENOUGH: ReadonlyMap<string | undefined, string> = new Map([
  ...["cat", "check", "info", "ls", "records", "stat", "tree"]
    .map((name) => [name, "--allow-read"] as const),
  ...["bag", "extract", "pack", "write"]
    .map((name) => [name, READ_AND_WRITE] as const),
  ["serve", "--allow-read --allow-net=127.0.0.1"],
  [
    "view",
    "--allow-read --allow-net=127.0.0.1 (and --allow-run to open the browser)",
  ],
  ["gulp", "--allow-read --allow-write (and --allow-run=ffmpeg for videos)"],
]);

/** Names the Deno flags that are missing for the command of `args`. */
export function permissionMessage(
  error: Deno.errors.NotCapable,
  args: readonly string[],
): string {
  const enough = ENOUGH.get(args[0]);
  const [what] = error.message.split(", run again");
  return `Cannot run the command: Deno lacks a permission (${what}). Run recordfs as ` +
    "`deno run -A cli.ts …`" +
    (enough === undefined ? "" : `, or at least with ${enough}`);
}
