import { RecordfsError } from "../../base/errors.ts";
import { libcReads } from "../libc/libc_reads.ts";
import { reasonOf, systemCode } from "../libc/system_error.ts";
import { type Descriptor, descriptors } from "./descriptor_pool.ts";
import { nodeDescriptor, permittedFile } from "./file_source.ts";

/** Descriptors of a thread of Deno 2.9.6: its event loop's, and its own of the three standard streams. */
const OF_THREAD = 6;
/** Modules that threads read when they start, and files that others open meanwhile. */
const MEANWHILE = 32;
/** Time in ms after which a thread that was started has opened what it needs. */
const STARTING = 2000;

const ANY_FILE = "/dev/null";

/** When threads were started of late, one entry each. */
let started: number[] = [];

/**
 * Whether there are enough descriptors to start threads: where there are not, Deno would panic, and end the process.
 * Those that this thread keeps idle are closed for them.
 */
export function hasDescriptors(threads: number): boolean {
  const now = performance.now();
  started = started.filter((time) => now - time < STARTING);
  const needed = (started.length + threads) * OF_THREAD + MEANWHILE;
  if (areFree(needed)) return true;
  descriptors.dropIdle();
  return areFree(needed);
}

/**
 * Refuses to start threads for which there are too few descriptors.
 *
 * @param what What they are, in the plural where there are several, for the message.
 * @throws {RecordfsError} With code `EMFILE`.
 */
export function requireDescriptors(threads: number, what: string): void {
  if (hasDescriptors(threads)) return;
  throw new RecordfsError(
    "EMFILE",
    `Cannot start ${threads} ${what}: ${reasonOf("EMFILE")}`,
  );
}

/** Counts threads that are being started: they have not opened yet what they need. */
export function threadsStart(threads: number): void {
  for (let i = 0; i < threads; i++) started.push(performance.now());
}

/** Whether so many can be opened, by opening them; where nothing may be opened, that is not known. */
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

/** Opens a file that may be opened, without asking anybody. */
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
