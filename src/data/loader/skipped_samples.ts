import { FormatError } from "../../base/errors.ts";
import { ImageError } from "../../codecs/image/image_error.ts";
import { VideoError } from "../../codecs/video/video_error.ts";
import { isDamage } from "../../tree/samples/open_shards.ts";

/** A damaged sample that a loader has skipped. */
export interface SkippedSample {
  /** Its index in the dataset. */
  readonly sample: number;
  /** Path of its file, if known. */
  readonly path: string | undefined;
  /** Message of the error that it was skipped for. */
  readonly message: string;
}

/** Number of causes of an error that are looked at. */
const DEPTH = 8;

/**
 * Returns whether an error means that a sample, or its picture or video, is damaged. A server that cannot be reached, a
 * file that was replaced since it was opened, and a mistake in the program are no damage.
 */
export function isDamagedSample(error: unknown): boolean {
  let isDamaged = false;
  let cause = error;
  for (let depth = 0; depth < DEPTH && cause instanceof Error; depth++) {
    if (cause instanceof FormatError && !isDamage(cause)) return false;
    isDamaged ||= cause instanceof FormatError || cause instanceof ImageError ||
      cause instanceof VideoError;
    cause = cause.cause;
  }
  return isDamaged;
}

/** Number of skipped samples that are named in each epoch; further ones are counted. */
const MOST_NAMED = 10;

/** Counts the samples that are skipped in an epoch, and warns of them. */
export class SkippedSamples {
  readonly #warn: (message: string) => void;
  #count = 0;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(skipped: readonly SkippedSample[]): void {
    for (const { sample, message } of skipped) {
      if (this.#count++ >= MOST_NAMED) continue;
      this.#warn(
        `Sample ${sample} is skipped, since it is damaged: ${message}`,
      );
    }
  }

  /** Warns at the end of an epoch how many samples were skipped, unless each was named. */
  end(epoch: number): void {
    if (this.#count <= MOST_NAMED) return;
    this.#warn(
      `Epoch ${epoch} skipped ${this.#count} damaged samples, of which the first ${MOST_NAMED} were named: check() ` +
        "names them all",
    );
  }
}
