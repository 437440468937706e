import { FormatError } from "../../base/errors.ts";
import { ImageError } from "../../codecs/image/image_error.ts";
import { VideoError } from "../../codecs/video/video_error.ts";
import { isDamage } from "../../tree/samples/open_shards.ts";

/** A damaged sample that a loader skipped. */
export interface SkippedSample {
  /** Index in the dataset. */
  readonly sample: number;
  readonly path: string | undefined;
  readonly message: string;
}

/** Maximum depth of the chain of causes that is searched. */
const DEPTH = 8;

/**
 * Whether an error means that a sample, or its picture or video, is damaged. An unreachable server, a file replaced
 * since it was opened, and a program error are not damage.
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

/** Maximum number of warnings per epoch; further samples are counted. */
const MOST_NAMED = 10;

/** Counts the samples skipped in an epoch and warns about them. */
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

  /** Warns of the total at the end of an epoch, unless every sample was named. */
  end(epoch: number): void {
    if (this.#count <= MOST_NAMED) return;
    this.#warn(
      `Epoch ${epoch} skipped ${this.#count} damaged samples, of which the first ${MOST_NAMED} were named: check() ` +
        "names all of them",
    );
  }
}
