import { libc } from "../../../fuse/libc.ts";
import { type MountRecord, updateRecord } from "./mount_records.ts";
import {
  identify,
  isRunning,
  openProcess,
  type ProcessId,
  secondsSince,
} from "./processes.ts";
import type { Serving } from "./serve.ts";
import { startSupervisor } from "./supervisor.ts";
import { flagMessageOf } from "../flag_words.ts";

/** `POLLIN` of `asm-generic/poll.h`. */
const POLLIN = 1;

/** Polling interval without pidfds, in milliseconds. */
const LOOK_MS = 500;

/** Minimum and maximum delay before replacing a supervisor that died at its start, in milliseconds. */
const SHORTEST_DELAY = 100;
const LONGEST_DELAY = 30_000;

/** Seconds after which a supervisor counts as started. */
const START_S = 1;

/**
 * Starts another supervisor whenever that of a mount dies, until the mount is to end. Nobody else changes `record`
 * while this process serves the mount.
 */
export async function superviseAgain(
  serving: Serving,
  record: MountRecord,
): Promise<void> {
  const { say, ending: { signal } } = serving;
  const files = serving.files!; // always defined in the background
  let delay = 0;
  let { supervisor } = record.supervised!;
  let child: Deno.ChildProcess | undefined;
  while (true) {
    await untilDead(supervisor);
    await child?.stdin.abort().catch(() => {}); // otherwise this process would keep its end of the pipe
    child = undefined;
    if (secondsSince(supervisor.startTicks) >= START_S) delay = 0;
    await new Promise((resolve) => setTimeout(resolve, delay));
    delay = Math.min(Math.max(2 * delay, SHORTEST_DELAY), LONGEST_DELAY);
    if (signal.aborted) return;
    const { pid } = supervisor;
    try {
      child = startSupervisor({ ...serving, files }, true);
      child.unref();
      supervisor = identify(child.pid) ?? supervisor;
      const supervised = { ...record.supervised!, supervisor };
      updateRecord(files, { ...record, supervised });
      say(
        `the supervisor, process ${pid}, died; process ${child.pid} takes its place`,
      );
    } catch (error) {
      const reason = flagMessageOf(error);
      say(
        `the supervisor, process ${pid}, died, and no other can start: ${reason}`,
      );
    }
  }
}

async function untilDead(process: ProcessId): Promise<void> {
  const { pollElsewhere, close } = libc();
  const fd = openProcess(process.pid);
  try {
    // The descriptor may belong to another process that reuses the id.
    while (isRunning(process)) {
      if (fd < 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      else {
        // struct pollfd of <poll.h>: descriptor; requested and returned events, 16 bits each.
        const descriptor = new Uint8Array(Int32Array.of(fd, POLLIN).buffer);
        await pollElsewhere(descriptor, 1, -1);
      }
    }
  } finally {
    if (fd >= 0) close(fd);
  }
}
