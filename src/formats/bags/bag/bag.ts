import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { ENTRY } from "../../../tree/limits/limit_entries.ts";
import { LimitedRecords } from "../../../tree/limits/limited_records.ts";
import type { Generation } from "../dataset/dataset_names.ts";

/** An opened bag. */
export class Bag extends LimitedRecords {
  override readonly unit = "bag";
  readonly generation: Generation;
  #lastEnd = 0;

  /** @param indexStart Byte offset in `index` of the record ends, after the 0 that precedes them in generation 1. */
  constructor(
    generation: Generation,
    length: number,
    dataEnd: number,
    source: ByteSource,
    index: ByteSource = source,
    indexStart = 0,
  ) {
    super(length, dataEnd, source, index, indexStart);
    this.generation = generation;
  }

  /**
   * Size in bytes as the original packages count it: the file; in generation 3, records and index without what a killed
   * writer left. Valid after {@linkcode Bag.hold}.
   */
  get size(): number {
    return this.generation === 3
      ? this.#lastEnd + this.length * ENTRY
      : this.source.size;
  }

  override *hold(cacheIndex: boolean, cacheData: boolean): Steps<void> {
    yield* super.hold(cacheIndex, cacheData);
    const { generation, length } = this;
    if (generation < 3 || length === 0) return;
    this.#lastEnd = yield* this.endByIndex(length - 1);
  }
}

/** Returns the index path of a generation-3 bag: `foo.idx` for `foo.bag`. */
export function indexPath(bagPath: string): string {
  return bagPath.replace(/\.[^./]*$/, "") + ".idx";
}
