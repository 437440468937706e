/** Longer than any test waits, in milliseconds. */
const BLOCKED = 600_000;

/**
 * Keeps its thread from all else. Not by a loop without end: Deno 2.9.6 goes on with one in a thread that was terminated
 * (https://github.com/denoland/deno/pull/35657), which would take a processor from all tests that come after it.
 */
export function blockThread(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED);
}
