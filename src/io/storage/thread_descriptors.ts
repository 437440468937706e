import { RecordfsError } from "../../base/errors.ts";
import { libcReads } from "../libc/libc_reads.ts";
import { reasonOf, systemCode } from "../libc/system_error.ts";
import { type Descriptor, descriptors } from "./descriptor_pool.ts";
import { nodeDescriptor, permittedFile } from "./file_source.ts";

/** Descriptors of a thread in Deno 2.9.6: its event loop's, and its own for the three standard streams. */
const OF_THREAD = 6;
/** Modules that threads read when they start, and files that others open meanwhile. */
const MEANWHILE = 32;
/** Time in ms after which a started thread has opened what it needs. */
const STARTING = 2000;

const ANY_FILE = "/dev/null";

let started: number[] = [];

/**
 * Whether there are enough descriptors to start threads. Without them, Deno would panic and end the process. Closes
 * this thread's idle descriptors if needed.
 */
export function hasDescriptors(threads: number): boolean {
  const now = performance.now();
  started = started.filter((time) => now - time < STARTING);
  const needed = (started.length + threads) * OF_THREAD + MEANWHILE;
  if (areFree(needed)) return true;
  descriptors.dropIdle();
  return areFree(needed);
}

/** Throws `EMFILE` if there are too few descriptors to start threads. `what` names them in the message. */
export function requireDescriptors(threads: number, what: string): void {
  if (hasDescriptors(threads)) return;
  throw new RecordfsError(
    "EMFILE",
    `Cannot start ${threads} ${what}: ${reasonOf("EMFILE")}`,
  );
}

/** Counts threads that are starting and have not opened yet what they need. */
export function threadsStart(threads: number): void {
  for (let i = 0; i < threads; i++) started.push(performance.now());
}

/** Whether that many files can be opened, by opening them; `true` if nothing may be opened. */
function areFree(count: number): boolean {
  const open = opener();
  if (open === undefined) return true;
  const opened: Descriptor[] = [];
  try {
    while (opened.length < count) opened.push(open());
    return true;
  } catch (error) {
    return systemCode(error) !== "EMFILE";
  } finally {
    for (const descriptor of opened) descriptor.close();
  }
}

/** Returns a function that opens a permitted file, without a prompt. */
function opener(): (() => Descriptor) | undefined {
  const libc = libcReads();
  if (libc !== undefined) {
    return () => {
      const fd = libc.open(ANY_FILE);
      return fd < 0
        ? nodeDescriptor(ANY_FILE)
        : { fd, close: () => libc.close(fd) };
    };
  }
  if (Deno.build.os === "windows") return undefined; // it has no such limit
  const { state } = Deno.permissions.querySync({
    name: "read",
    path: ANY_FILE,
  });
  const file = state === "granted" ? ANY_FILE : permittedFile();
  return file === undefined ? undefined : () => nodeDescriptor(file);
}
