import type { PictureSize } from "../../codecs/image/picture_size.ts";
import { LogHistogram, WordCounts } from "./histograms.ts";
import type { Kind, Statistics } from "./messages.ts";
import type { Turns } from "./turns.ts";

/** Labels that are counted, different values of each, and those that are told. */
const MOST_LABELS = 16;
const MOST_VALUES = 100_000;
const TOLD_VALUES = 1000;
/** Characters of a label that are told. */
const LONGEST_LABEL = 200;
/** Keys that are counted. */
const MOST_KEYS = 1000;

/** What statistics are made of, entry by entry. */
export class Gathered {
  done = 0;
  files = 0;
  directories = 0;
  bytes = 0;
  damaged = 0;
  /** Pictures, of which some are looked at. */
  pictures = 0;
  /** Samples that have labels, of which some are looked at. */
  readonly samples = { looked: 0, total: 0 };
  readonly #sizes = new LogHistogram();
  readonly #kinds = new Map<Kind, number>();
  readonly #labels = new Map<string, WordCounts>();
  readonly #frames = new LogHistogram();
  readonly #dimensions = new WordCounts(MOST_VALUES);
  readonly #widths = new LogHistogram();
  readonly #heights = new LogHistogram();
  readonly #keys = new Map<
    string,
    { type: string; values: number; bytes: number }
  >();

  /** Counts something by its kind. */
  addKind(kind: Kind): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  /** Counts a file. */
  addFile(size: number | null): void {
    this.files++;
    if (size === null) this.damaged++;
    else {
      this.bytes += size;
      this.#sizes.add(size);
    }
  }

  /** Counts a clip. */
  addClip(frames: number): void {
    this.#frames.add(frames);
  }

  /** Counts a value of a datapoint. */
  addValue(key: string, type: string, size: number | null): void {
    let counts = this.#keys.get(key);
    if (counts === undefined) {
      if (this.#keys.size === MOST_KEYS) return;
      this.#keys.set(key, counts = { type, values: 0, bytes: 0 });
    }
    counts.values++;
    counts.bytes += size ?? 0;
  }

  /** Counts a label: what a sample is known by. A null is none of the texts. */
  addLabel(label: string, value: string | null): void {
    let values = this.#labels.get(label);
    if (values === undefined) {
      if (this.#labels.size === MOST_LABELS) return;
      this.#labels.set(label, values = new WordCounts(MOST_VALUES));
    }
    values.add(value && value.slice(0, LONGEST_LABEL).toWellFormed());
  }

  /** Counts the size of a picture. */
  addPicture({ width, height }: PictureSize): void {
    this.#dimensions.add(`${width} ${height}`);
    this.#widths.add(width);
    this.#heights.add(height);
  }

  /**
   * All that is known by now; many labels are sorted in turns.
   *
   * @param total Entries that the format has counted; formats that read their directories late count too few, and a
   * total that has been passed is none.
   */
  async toMessage(
    total: number | null,
    isComplete: boolean,
    turns: Turns,
  ): Promise<Statistics> {
    const labels: Statistics["labels"][number][] = [];
    for (const [label, values] of this.#labels) {
      if (turns.areDue) await turns.give();
      labels.push({
        label,
        values: values.top(TOLD_VALUES)
          .map(([value, count]) => ({ value, count })),
        different: values.different,
      });
    }
    const { done, files, directories, bytes, damaged } = this;
    return {
      ...{ isComplete, done, files, directories, bytes, damaged },
      total: total !== null && done > total ? null : total,
      sizes: this.#sizes.toMessage(),
      kinds: [...this.#kinds].sort(([, a], [, b]) => b - a)
        .map(([kind, count]) => ({ kind, count })),
      samples: { ...this.samples },
      labels,
      framesPerClip: this.#frames.total === 0 ? null : this.#frames.toMessage(),
      dimensions: this.pictures === 0 ? null : {
        looked: this.#widths.total,
        pictures: this.pictures,
        sizes: this.#dimensions.top(TOLD_VALUES).map(([words, count]) => {
          const [width, height] = words!.split(" ").map(Number);
          return { width: width!, height: height!, count };
        }),
        widths: this.#widths.toMessage(),
        heights: this.#heights.toMessage(),
      },
      keys: [...this.#keys].map(([key, counts]) => ({ key, ...counts })),
    };
  }
}
