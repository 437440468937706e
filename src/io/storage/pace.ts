/** Longest time of a fast read, in ms; a disk takes longer. */
const PATIENCE = 0.05;
const PATIENCE_PER_BYTE = 1 / 2e6;
/**
 * A slow read raises the doubt that the data is in memory, a fast one lowers it by 1. More than one slow read in 40 is
 * too much. Fewer may be due to another program using the CPU.
 */
const DOUBT_OF_SLOW = 40;
const TOO_MUCH_DOUBT = 100;
/** Doubt after a detour: one more slow read soon starts the next detour. */
const DOUBT_AFTER_DETOUR = 80;
/** Length of a detour, in reads sent to the thread pool: at first, and at most. */
const FIRST_DETOUR = 16;
const LONGEST_DETOUR = 1024;

/**
 * Learns from read times whether a device's files are in memory. If so, callers that could wait should not, because
 * waiting costs more than the read. If not, only one read in 1024 is still tried without waiting.
 */
export class Pace {
  #doubt = 0;
  #detour = FIRST_DETOUR;
  /** Reads left in the current detour. */
  #left = 0;

  /** Whether the next read may be done without waiting. Must be called once per read. */
  allows(): boolean {
    if (this.#left === 0) return true;
    this.#left--;
    return false;
  }

  /** Records the time of a read done without waiting. */
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

/** Returns the pace of a device. All its files share it, so that a thousand parts learn together. */
export function paceOf(device: number): Pace {
  let pace = byDevice.get(device);
  if (pace === undefined) byDevice.set(device, pace = new Pace());
  return pace;
}
