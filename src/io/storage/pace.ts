/** Longest time of a read, in ms, that does not count as slow: a disk's answer takes longer. */
const PATIENCE = 0.05;
const PATIENCE_PER_BYTE = 1 / 2e6;
/**
 * A slow read raises the doubt that the data is in memory, a quick one lowers it by 1: more than one
 * slow read in 40 is too much. Fewer are those during which another program had the processor.
 */
const DOUBT_OF_SLOW = 40;
const TOO_MUCH_DOUBT = 100;
/** Budget left after a detour: one more slow read soon after, and the next one follows. */
const DOUBT_AFTER_DETOUR = 80;
/** Reads that are sent to the thread pool: at first, and at most. */
const FIRST_DETOUR = 16;
const LONGEST_DETOUR = 1024;

/**
 * Learns from how long reads take whether a device's files are in the system's memory: then a caller
 * that could wait had better not, since that costs more than the reading. Where they are not, only
 * one read of 1024 is still tried without waiting.
 */
export class Pace {
  #doubt = 0;
  #detour = FIRST_DETOUR;
  /** Reads that are still to go to the thread pool. */
  #left = 0;

  /** Tells whether the next read may be done without waiting. Asked once for each read. */
  allows(): boolean {
    if (this.#left === 0) return true;
    this.#left--;
    return false;
  }

  /** Tells how long a read took that was done without waiting. */
  took(milliseconds: number, bytes: number): void {
    if (milliseconds <= PATIENCE + PATIENCE_PER_BYTE * bytes) {
      if (this.#doubt === 0) return;
      this.#doubt--;
      if (this.#doubt === 0) this.#detour = FIRST_DETOUR;
      return;
    }
    this.#doubt += DOUBT_OF_SLOW;
    if (this.#doubt < TOO_MUCH_DOUBT) return;
    this.#doubt = DOUBT_AFTER_DETOUR;
    this.#left = this.#detour;
    this.#detour = Math.min(2 * this.#detour, LONGEST_DETOUR);
  }
}

const byDevice = new Map<number, Pace>();

/** The pace of all files of a device: a thousand parts learn together. */
export function paceOf(device: number): Pace {
  let pace = byDevice.get(device);
  if (pace === undefined) byDevice.set(device, pace = new Pace());
  return pace;
}
