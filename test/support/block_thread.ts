/** Longer than any test takes, in milliseconds. */
const BLOCKED = 600_000;

/**
 * Blocks the calling thread. An endless loop would not do: Deno 2.9.6 continues it in a terminated thread
 * (https://github.com/denoland/deno/pull/35657), which would occupy a processor during all later tests.
 */
export function blockThread(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED);
}
