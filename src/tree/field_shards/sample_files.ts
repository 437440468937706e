import { LruCache } from "../../io/block_cache/lru_cache.ts";
import { RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { fillNow } from "../../io/read/read_part.ts";
import { atOnce } from "../not_loaded.ts";
import { type Extent, placeBytes, placeRange } from "../tree.ts";
import type { Encoding } from "./encoding.ts";
import { elementCount, elementStarts } from "./list_value.ts";
import { asBadValue } from "./value_fault.ts";
import {
  arrayFile,
  arrayFileSize,
  bytesLookedAt,
  numberFile,
} from "./values.ts";
import type { Column } from "./shard_index.ts";
import type { FieldSamples } from "./field_samples.ts";
import { badSizes, headSize, startIn, valueStarts } from "./sample_tables.ts";
import type { ShardStore } from "./shard_store.ts";

const MOST_LAYOUTS = 4096;
/** Cache capacity for generated files in bytes, and overhead charged per file, which limits it to 4096 files. */
const MOST_MADE = 64 << 20;
const MADE_BYTES = 1 << 14;
/** Cache capacity for list offsets in bytes, and overhead charged per list. */
const MOST_LISTS = 32 << 20;
const LIST_BYTES = 128;
/** Largest array in bytes that is shown as a file: it is built in memory. */
const LARGEST = 256 << 20;

/** Location of a sample and its values. */
interface Layout {
  readonly shard: number;
  readonly path: string;
  readonly columns: readonly Column[];
  readonly start: number;
  /** Offsets of its values from `start`, plus the end of the last. */
  readonly values: Float64Array;
}

export interface ValueFile {
  file: number;
  sample: number;
  column: number;
  /** For a list element, its number and the id of its list; otherwise -1. */
  element: number;
  list: number;
}

/** File generated from a value: its size, and its bytes once requested. */
interface MadeFile {
  readonly size: number;
  readonly bytes: Uint8Array | undefined;
}

/** Files of the samples' values: ranges of shards, or generated on demand. */
export class SampleFiles {
  readonly #store: ShardStore;
  readonly #samples: FieldSamples;
  readonly #sourceOf: Int32Array;
  /** By sample. */
  readonly #layouts = new LruCache<Layout>(MOST_LAYOUTS);
  #last: Layout | undefined;
  #lastSample = -1;
  /** By file id. */
  readonly #made = new LruCache<MadeFile>(MOST_MADE);
  /** Offsets of list elements, plus the end of the last, by file id. */
  readonly #lists = new LruCache<Float64Array>(MOST_LISTS);
  readonly #mostElements: number;
  /** Range of the last looked up value in its shard. */
  #offset = 0;
  #length = 0;

  /** @param sourceOf Per shard: index of its source in extents. */
  constructor(
    samples: FieldSamples,
    sourceOf: Int32Array,
    mostElements: number,
  ) {
    this.#mostElements = mostElements;
    this.#samples = samples;
    this.#store = samples.shards;
    this.#sourceOf = sourceOf;
  }

  /**
   * Returns the size of a file in bytes. Throws a `FormatError` if the shard is damaged there, and
   * `NotLoaded` if a part of it is not loaded yet.
   */
  size(value: ValueFile): number {
    const encoding = this.#find(value);
    return encoding.form === "stored"
      ? this.#length
      : this.#make(value, encoding, false).size;
  }

  /** Locates a file; throws like {@linkcode SampleFiles.size}. */
  locate(value: ValueFile, into: Extent): void {
    const encoding = this.#find(value);
    if (encoding.form !== "stored") {
      return placeBytes(this.#make(value, encoding, true).bytes!, into);
    }
    const source = this.#sourceOf[this.#last!.shard]!;
    placeRange(source, this.#offset, this.#length, into);
  }

  /** Returns the number of elements in a list with the file id `list`; throws like {@linkcode SampleFiles.size}. */
  elements(sample: number, column: number, list: number): number {
    return this.#listStarts(sample, column, list).length - 1;
  }

  /** Sets the current range to a value, and returns its encoding. */
  #find({ sample, column, element, list }: ValueFile): Encoding {
    const { values, columns, start } = this.#layout(sample);
    const { encoding } = columns[column]!;
    this.#offset = start + values[column]!;
    this.#length = values[column + 1]! - values[column]!;
    if (element < 0) return encoding;
    const starts = this.#listStarts(sample, column, list);
    this.#offset += starts[element]!;
    this.#length = starts[element + 1]! - starts[element]!;
    return encoding.list!.element;
  }

  #listStarts(sample: number, column: number, list: number): Float64Array {
    const known = this.#lists.get(list);
    if (known !== undefined) return known;
    const { path } = this.#layout(sample);
    return atOnce(
      path,
      () => this.#store.reading(sample, this.#readList(sample, column, list)),
    );
  }

  *#readList(
    sample: number,
    column: number,
    file: number,
  ): Steps<Float64Array> {
    const { shard, path, start, columns, values } = this.#layouts.get(sample) ??
      (yield* this.#makeLayout(sample));
    const source = yield* this.#store.content(shard);
    const { encoding: { list }, name } = columns[column]!;
    const place = {
      source,
      offset: start + values[column]!,
      length: values[column + 1]! - values[column]!,
    };
    try {
      const count = yield* elementCount(list!, place);
      if (count > this.#mostElements) {
        throw new RecordfsError(
          "too-large",
          `Cannot show '${name}' of sample ${sample} of ${path} as files: it ` +
            `has ${count} elements, more than the limit of ` +
            `${this.#mostElements}. Read it by openSamples`,
          { path, sample },
        );
      }
      const starts = yield* elementStarts(list!, place, count);
      this.#lists.set(file, starts, LIST_BYTES + starts.byteLength);
      return starts;
    } catch (cause) {
      throw asBadValue({ path, sample, column: name }, cause);
    }
  }

  #layout(sample: number): Layout {
    if (sample === this.#lastSample) return this.#last!;
    let layout = this.#layouts.get(sample);
    if (layout === undefined) {
      const shard = this.#store.shardOf(sample);
      // The sample's values will be read too, and several at a time: prefetch the whole sample.
      const isFar = this.#store.opened(shard)?.prefetch !== undefined;
      if (isFar) this.#samples.prefetch([sample]);
      const { path } = this.#store.shards[shard]!;
      layout = atOnce(
        path,
        () => this.#store.reading(sample, this.#makeLayout(sample)),
      );
    }
    this.#last = layout;
    this.#lastSample = sample;
    return layout;
  }

  *#makeLayout(sample: number): Steps<Layout> {
    const store = this.#store;
    store.requireReadable(sample);
    const shard = store.shardOf(sample);
    const number = sample - store.firsts[shard]!;
    const table = yield* this.#samples.tables.table(shard);
    const start = startIn(table, number);
    const length = startIn(table, number + 1) - start;
    const { path, set } = store.shards[shard]!;
    const columns = store.sets[set]!;
    const head = new Uint8Array(headSize(columns));
    let values: Float64Array | undefined;
    if (head.length <= length) {
      yield* fillNow(yield* store.content(shard), head, start);
      values = valueStarts(columns, new DataView(head.buffer), length);
    }
    if (values === undefined) throw badSizes(path, sample, number);
    const layout = { shard, path, start, columns, values };
    this.#layouts.set(sample, layout, 1);
    return layout;
  }

  /** Generates the file of the current value; an array's bytes only if `isWhole`, otherwise only their number. */
  #make(
    { file, sample, column }: ValueFile,
    encoding: Encoding,
    isWhole: boolean,
  ): MadeFile {
    const known = this.#made.get(file);
    if (known !== undefined && (!isWhole || known.bytes !== undefined)) {
      return known;
    }
    const { shard, path, columns } = this.#last!;
    const { name } = columns[column]!;
    const [offset, length] = [this.#offset, this.#length];
    const isNumber = encoding.form === "json";
    if (isWhole && length > LARGEST) {
      throw new RecordfsError(
        "too-large",
        `Cannot show '${name}' of sample ${sample} of ${path} as a file: it ` +
          `has ${length} bytes, more than the limit of ${LARGEST} for arrays. ` +
          "Read it by openSamples",
        { path, sample },
      );
    }
    const [store, made] = [this.#store, this.#made];
    return atOnce(path, function* () {
      const wanted = isNumber || isWhole ? length : bytesLookedAt(length);
      const bytes = new Uint8Array(wanted);
      const source = yield* store.content(shard);
      yield* store.reading(sample, fillNow(source, bytes, offset));
      try {
        const content = isNumber
          ? numberFile(encoding, bytes)
          : isWhole
          ? arrayFile(encoding, bytes)
          : undefined;
        const size = content?.length ?? arrayFileSize(encoding, bytes, length);
        const one = { size, bytes: content };
        made.set(file, one, MADE_BYTES + (content?.length ?? 0));
        return one;
      } catch (cause) {
        throw asBadValue({ path, sample, column: name }, cause);
      }
    });
  }
}
