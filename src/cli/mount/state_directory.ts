import { RecordfsError } from "../../errors.ts";

/**
 * Directories that may hold what is known of running mounts, the preferred one first.
 *
 * A mount made at boot or by another session of the same user may be in any of them.
 */
export function stateDirectories(): string[] {
  const directories: string[] = [];
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  if (runtime?.startsWith("/")) directories.push(`${runtime}/recordfs`);
  if (Deno.uid() === 0) directories.push("/run/recordfs");
  directories.push(`/tmp/recordfs-${Deno.uid()}`);
  return directories;
}

/**
 * Makes the first of the directories that can be made.
 *
 * @throws {RecordfsError} If it belongs to somebody else, who could then read and replace what is in
 * it.
 */
export function makeStateDirectory(): string {
  let refusal: unknown;
  for (const directory of stateDirectories()) {
    try {
      Deno.mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) {
        refusal = error;
        continue; // the session's directory can be gone while a session's variable is still set
      }
    }
    checkOwner(directory);
    return directory;
  }
  throw refusal;
}

function checkOwner(directory: string): void {
  const { isDirectory, uid, mode } = Deno.lstatSync(directory);
  if (isDirectory && uid === Deno.uid() && ((mode ?? 0) & 0o077) === 0) return;
  throw new RecordfsError(
    "unsafe-state-directory",
    `Cannot keep logs and process ids in ${directory}: it must be a directory ` +
      `that belongs to you and that nobody else can enter (chmod 700)`,
    { path: directory },
  );
}
