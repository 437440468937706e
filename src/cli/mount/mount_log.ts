import { report } from "../messages.ts";
import type { MountFiles } from "./mount_files.ts";

/** Size in bytes from which the log is truncated; its last part moves to `log.1`. */
const LARGEST_LOG = 1 << 20;

/** Maximum size of that part, if others have appended more meanwhile. */
const LARGEST_PART = 1 << 22;

/** Number of messages between two checks of the size. */
const MESSAGES_BETWEEN_LOOKS = 500;

/** Returns a function that reports messages to standard error, which appends to a log, and limits its size. */
export function logTo(files: MountFiles): (message: string) => void {
  let messages = 0;
  return (message) => {
    report(message);
    if (++messages % MESSAGES_BETWEEN_LOOKS === 0) shorten(files);
  };
}

/**
 * Moves the content of a log to `log.1`. Truncates the log in place, because the supervisor and Deno itself also
 * append to it.
 */
function shorten(files: MountFiles): void {
  try {
    if (files.logSize < LARGEST_LOG) return;
    const part = files.readLogEnd(LARGEST_PART);
    if (part === undefined) return;
    try {
      files.write("log.1", part);
    } catch {
      files.remove("log.1"); // the disk is full: make room
    }
    files.overwrite("log", new Uint8Array(0));
  } catch {
    // No problem with the log may end the mount.
  }
}
