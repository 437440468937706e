import { report } from "../messages.ts";
import { removeFile } from "./mount_records.ts";

/** A log larger than this, in bytes, is begun anew; its last part is kept beside it. */
const LARGEST_LOG = 1 << 20;

/** Its size is looked at after so many messages. */
const MESSAGES_BETWEEN_LOOKS = 500;

/** Makes a function that reports messages to standard error, which appends to a log, and keeps that short. */
export function logTo(path: string): (message: string) => void {
  let messages = 0;
  return (message) => {
    report(message);
    if (++messages % MESSAGES_BETWEEN_LOOKS === 0) shorten(path);
  };
}

/** Removes a log and its last part. */
export function removeLog(path: string): void {
  removeFile(path);
  removeFile(earlierPart(path));
}

/**
 * Moves what a log holds to the file beside it. The log stays the same file, since others append to it as
 * well: the supervisor, and Deno itself when it has to say something.
 */
function shorten(path: string): void {
  try {
    if (Deno.statSync(path).size < LARGEST_LOG) return;
    try {
      Deno.copyFileSync(path, earlierPart(path));
    } catch {
      removeFile(earlierPart(path)); // the disk is full: room is what is needed
    }
    Deno.truncateSync(path);
  } catch {
    // Whatever is the matter with the log, the mount goes on.
  }
}

function earlierPart(path: string): string {
  return `${path}.1`;
}
