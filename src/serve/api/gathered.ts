import type { PictureSize } from "../../codecs/image/picture_size.ts";
import { LogHistogram, WordCounts } from "./histograms.ts";
import type { Kind, Statistics } from "./messages.ts";
import type { Turns } from "./turns.ts";

/** Maximum number of labels counted, of distinct values counted for each, and of values reported. */
const MOST_LABELS = 16;
const MOST_VALUES = 100_000;
const TOLD_VALUES = 1000;
/** Maximum characters of a label's value. */
const LONGEST_LABEL = 200;
const MOST_KEYS = 1000;

/** Statistics, accumulated entry by entry. */
export class Gathered {
  done = 0;
  files = 0;
  directories = 0;
  bytes = 0;
  damaged = 0;
  pictures = 0;
  /** Samples with labels, of which some are examined. */
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

  addKind(kind: Kind): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  addFile(size: number | null): void {
    this.files++;
    if (size === null) this.damaged++;
    else {
      this.bytes += size;
      this.#sizes.add(size);
    }
  }

  addClip(frames: number): void {
    this.#frames.add(frames);
  }

  addValue(key: string, type: string, size: number | null): void {
    let counts = this.#keys.get(key);
    if (counts === undefined) {
      if (this.#keys.size === MOST_KEYS) return;
      this.#keys.set(key, counts = { type, values: 0, bytes: 0 });
    }
    counts.values++;
    counts.bytes += size ?? 0;
  }

  /** Counts a label's value of a sample. A null is distinct from every text. */
  addLabel(label: string, value: string | null): void {
    let values = this.#labels.get(label);
    if (values === undefined) {
      if (this.#labels.size === MOST_LABELS) return;
      this.#labels.set(label, values = new WordCounts(MOST_VALUES));
    }
    values.add(value && value.slice(0, LONGEST_LABEL).toWellFormed());
  }

  addPicture({ width, height }: PictureSize): void {
    this.#dimensions.add(`${width} ${height}`);
    this.#widths.add(width);
    this.#heights.add(height);
  }

  /**
   * Returns the statistics so far. Yields to other work while it sorts many labels.
   *
   * @param total Number of entries according to the format. Formats that read their directories lazily report too few:
   * a total that was exceeded is dropped.
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
