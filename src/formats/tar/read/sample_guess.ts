import { SAMPLES } from "../kinds.ts";
import type { GroupFacts } from "./sample_groups.ts";

/** Maximum number of extensions counted for all tars. */
const MOST_EXTENSIONS = 4096;

/** Detects from names whether several tars are WebDataset shards, and what is unusual about their samples. */
export class SampleGuess {
  #counted = 0;
  #joined = 0;
  #withExtension = 0;
  #samples = 0;
  #firstApart: string | undefined;
  #apartCount = 0;
  readonly #extensions = new Map<string, number>();

  /** Adds a tar. Those with fewer than two relevant files are ignored. */
  add(
    { counted, joined, apart, firstApart, extensions }: GroupFacts,
    { sampleRecords, sampleStarts }: {
      readonly sampleRecords: Uint32Array;
      readonly sampleStarts: Uint32Array;
    },
  ): void {
    if (counted <= 1) return;
    this.#counted += counted;
    this.#joined += joined;
    this.#withExtension += sampleRecords.length;
    this.#samples += sampleStarts.length - 1;
    this.#apartCount += apart;
    this.#firstApart ??= firstApart;
    for (const [extension, count] of extensions) {
      const before = this.#extensions.get(extension);
      if (before === undefined && this.#extensions.size === MOST_EXTENSIONS) {
        continue;
      }
      this.#extensions.set(extension, (before ?? 0) + count);
    }
  }

  /** Whether to group files into samples: the tars look like WebDataset, or the `format` option says so. */
  isGrouped(format: string | undefined): boolean {
    return format === SAMPLES || this.#isWebDataset;
  }

  /**
   * Whether the tars look like WebDataset: at least half of the files share their key with another one; or some do, all
   * have extensions, and one extension is in every sample.
   */
  get #isWebDataset(): boolean {
    if (this.#joined === 0) return false;
    if (2 * this.#joined >= this.#counted) return true;
    return this.#withExtension === this.#counted &&
      this.#extensions.values().some((count) => count >= this.#samples);
  }

  /** Returns warnings about the samples. `isGrouped` if files are grouped into samples. */
  notes(isGrouped: boolean): string[] {
    const rare = this.#rare();
    return [
      ...this.#areKeysCut(rare, isGrouped)
        ? [
          `most extensions occur once (${
            rare.slice(0, 2).map((extension) => `'${extension}'`).join(", ")
          }), since keys end at the first dot of a name. Write names with no dot before their extensions`,
        ]
        : [],
      ...isGrouped && this.#apartCount > 0
        ? [
          `samples whose files are not neighbours in the tar: ${this.#apartCount} (such as '${this.#firstApart}'). Each is one sample here, and several in Python's webdataset`,
        ]
        : [],
    ];
  }

  /** Returns the extensions that occur once, those that contain a dot first. */
  #rare(): string[] {
    const once = [...this.#extensions].filter(([, count]) => count === 1)
      .map(([extension]) => extension);
    const hasDot = (extension: string) => extension.includes(".");
    return [
      ...once.filter(hasDot),
      ...once.filter((extension) => !hasDot(extension)),
    ];
  }

  /**
   * Whether keys seem to contain dots: more than half of the extensions occur once. A single sample has each extension
   * once, and unrelated files have many different extensions, but few with two dots.
   */
  #areKeysCut(rare: readonly string[], isGrouped: boolean): boolean {
    const all = this.#extensions.size;
    if (2 * rare.length <= all) return false;
    const dotted = rare.filter((extension) => extension.includes(".")).length;
    return isGrouped
      ? this.#samples > 1 || dotted > 0
      : dotted > 1 && 2 * dotted > all;
  }
}
