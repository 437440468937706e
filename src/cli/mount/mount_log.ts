import { report } from "../messages.ts";
import type { MountFiles } from "./mount_files.ts";

/** A log larger than this, in bytes, is begun anew; its last part is kept beside it. */
const LARGEST_LOG = 1 << 20;

/** So many bytes of it at most, where others have appended more meanwhile. */
const LARGEST_PART = 1 << 22;

/** Its size is looked at after so many messages. */
const MESSAGES_BETWEEN_LOOKS = 500;

/** Makes a function that reports messages to standard error, which appends to a log, and keeps that short. */
export function logTo(files: MountFiles): (message: string) => void {
  let messages = 0;
  return (message) => {
    report(message);
    if (++messages % MESSAGES_BETWEEN_LOOKS === 0) shorten(files);
  };
}

/**
 * Moves what a log holds to the file beside it. The log stays the same file, since others append to it as
 * well: the supervisor, and Deno itself when it has to say something.
 */
function shorten(files: MountFiles): void {
  try {
    if (files.logSize < LARGEST_LOG) return;
    const part = files.readLogEnd(LARGEST_PART);
    if (part === undefined) return;
    try {
      files.write("log.1", part);
    } catch {
      files.remove("log.1"); // the disk is full: room is what is needed
    }
    files.overwrite("log", new Uint8Array(0));
  } catch {
    // Whatever is the matter with the log, the mount goes on.
  }
}
