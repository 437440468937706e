import { FormatError } from "../../base/errors.ts";
import { ImageError } from "../../codecs/image/image_error.ts";
import { VideoError } from "../../codecs/video/video_error.ts";

/** A damaged sample that a loader has left out. */
export interface SkippedSample {
  /** Its index in the dataset. */
  readonly sample: number;
  /** The file that it lies in, where that is known. */
  readonly path: string | undefined;
  /** What is wrong with it. */
  readonly message: string;
}

/** Causes of errors are looked at up to this depth. */
const DEPTH = 8;

/**
 * Whether an error says that a sample is damaged, or its picture or video: not that a server is away, nor that the
 * program has a mistake.
 */
export function isDamage(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < DEPTH && cause instanceof Error; depth++) {
    const isOne = cause instanceof FormatError || cause instanceof ImageError ||
      cause instanceof VideoError;
    if (isOne) return true;
    cause = cause.cause;
  }
  return false;
}

/** Samples that an epoch names at most; the rest are counted. */
const MOST_NAMED = 10;

/** Counts the samples that an epoch leaves out, and tells of them. */
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

  /** Says at an epoch's end how many there were, if not all of them were named. */
  end(epoch: number): void {
    if (this.#count <= MOST_NAMED) return;
    this.#warn(
      `Epoch ${epoch} skipped ${this.#count} damaged samples, of which the first ${MOST_NAMED} were named: check() ` +
        "names them all",
    );
  }
}
