import { isIndex } from "../../../tree/sample_indices.ts";
import { FormatError, IndexError } from "../../../base/errors.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { type Extent, placeChecked } from "../../../tree/tree.ts";
import { endOfHeader } from "../layout.ts";
import { TableProgress } from "./table_progress.ts";
import { WholeSamples } from "./whole_samples.ts";

/** One `.ffr` file in a {@linkcode SampleIndex}; survives `postMessage`. */
export interface SamplePart {
  readonly path: string;
  /** Size of the file in bytes, at which its last sample ends. */
  readonly size: number;
  readonly count: number;
  /** Checksums, then offsets in two words each; shared memory. */
  readonly table: Uint32Array;
  /** Loading progress of the table, if other threads use it while it is loaded. */
  readonly progress?: Int32Array | undefined;
}

/** Exclusive limit of an offset's high word, so that a number holds it exactly (below 2^53). */
const LARGEST_HIGH = 2 ** 21;

/** Locations of the samples of `.ffr` files, as one sequence: 12 bytes a sample, as in the file, and no objects. */
export class SampleIndex extends ShardTable<SamplePart> {
  /** Progress by file, where tables are still loading. */
  readonly #progress: readonly (TableProgress | undefined)[];
  #whole: WholeSamples | undefined;

  constructor(
    files: readonly SamplePart[],
    lost: readonly LostShard[] = [],
  ) {
    super(files, ({ count }) => count, lost);
    this.#progress = files.map(({ progress }) =>
      progress && new TableProgress(progress)
    );
  }

  override get name(): string {
    return this.shards.length === 0
      ? "an empty sequence of FFRecord files"
      : super.name;
  }

  /** @throws {IndexError} If there is no such sample. */
  require(index: number): void {
    if (isIndex(index, this.length)) return;
    throw new IndexError(index, this.length, this.name);
  }

  /**
   * Looks up the location and checksum of a sample.
   *
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If its offsets are damaged or beyond the end of the file.
   */
  locate(index: number, into: Extent): void {
    this.require(index);
    const source = this.shardOf(index);
    const part = this.shards[source]!;
    const local = index - this.firsts[source]!;
    const progress = this.#progress[source];
    if (progress !== undefined && !progress.isSound) {
      waitForSample(progress, part, local);
    }
    const start = offsetAt(part, local);
    const end = endAt(part, local);
    if (
      !(start >= endOfHeader(part.count) && start <= end && end <= part.size)
    ) {
      throw badExtent(part, index, start, end);
    }
    const checksum = part.table[local]!;
    placeChecked(source, start, end - start, "crc32", checksum, into);
  }

  /**
   * Waits until the metadata of a sample's file are verified; only needed by threads that serve a tree while it is
   * loaded.
   *
   * @throws {FormatError} If they are damaged.
   */
  waitUntilSound(index: number): void {
    const part = this.shardOf(index);
    const progress = this.#progress[part];
    if (progress === undefined || progress.isSound) return;
    progress.waitUntilSound(this.shards[part]!.path);
  }

  /** Returns the error for a sample that cannot be located; `name` is its name in the container. */
  faultOf(index: number, name?: string): FormatError {
    const source = this.shardOf(index);
    const part = this.shards[source]!;
    const local = index - this.firsts[source]!;
    const start = offsetAt(part, local);
    const end = endAt(part, local);
    return badExtent(part, index, start, end, name);
  }

  /**
   * Counts the samples of a file before its truncation. If it is truncated, the whole table must be loaded; otherwise,
   * the entries of the last sample suffice.
   */
  wholeOf(source: number): number {
    const part = this.shards[source]!;
    const { count, size, table } = part;
    if (count === 0) return 0;
    const last = offsetAt(part, count - 1);
    // The checksum of no bytes is 0.
    const isCut = last > size || last === size && table[count - 1] !== 0;
    if (!isCut) return count;
    let whole = count - 1;
    while (whole > 0 && offsetAt(part, whole) > size) whole--;
    return whole;
  }

  /** Samples that are not truncated, computed once; see {@linkcode SampleIndex.wholeOf} for what must be loaded. */
  get whole(): WholeSamples {
    return this.#whole ??= new WholeSamples(this);
  }

  /** Size of a truncated sample, by its offsets; 0 for the last one, whose end is not recorded. */
  cutSizeOf(index: number): number {
    const source = this.shardOf(index);
    const part = this.shards[source]!;
    const local = index - this.firsts[source]!;
    if (local + 1 === part.count) return 0;
    const size = offsetAt(part, local + 1) - offsetAt(part, local);
    return size > 0 ? size : 0;
  }

  /** Offset of a sample as recorded, even if damaged. */
  rawOffset(index: number): number {
    const part = this.shardOf(index);
    return offsetAt(this.shards[part]!, index - this.firsts[part]!);
  }
}

function waitForSample(
  progress: TableProgress,
  { path, count }: SamplePart,
  local: number,
): void {
  progress.waitForBytes(path, 4 * local, 4 * local + 4);
  const offset = 4 * count + 8 * local;
  const behind = offset + (local + 1 < count ? 16 : 8);
  progress.waitForBytes(path, offset, behind);
}

/** NaN if the offset is negative or 2^53 or more. */
function offsetAt({ table, count }: SamplePart, local: number): number {
  const high = table[count + 2 * local + 1]!;
  return high < LARGEST_HIGH ? high * 2 ** 32 + table[count + 2 * local]! : NaN;
}

function endAt(part: SamplePart, local: number): number {
  return local + 1 < part.count ? offsetAt(part, local + 1) : part.size;
}

function badExtent(
  part: SamplePart,
  sample: number,
  start: number,
  end: number,
  member?: string,
): FormatError {
  const { path, size } = part;
  const facts = { path, sample, member, offset: start };
  const what = member === undefined ? `sample ${sample}` : `'${member}'`;
  const place = `Cannot read ${what} of ${path}:`;
  const shown = (offset: number) =>
    Number.isNaN(offset) ? "an offset below 0 or above 2^53" : offset;
  const behindHeader = start >= endOfHeader(part.count);
  if (behindHeader && (start === size || Math.max(start, end) > size)) {
    const there = start >= size
      ? `starts at byte ${start}`
      : `goes from byte ${start} to ${end}`;
    return new FormatError(
      "out-of-bounds",
      `${place} it ${there}, and the file ends at byte ${size}: the file ` +
        "is truncated. Download it again",
      { ...facts, expected: Math.max(start, end), actual: size },
    );
  }
  return new FormatError(
    "bad-offsets",
    `${place} offset out of range or descending offsets: it would be ` +
      `bytes ${shown(start)} to ${shown(end)} of ${size}: the file is ` +
      "damaged. Download it again",
    { ...facts, actual: [start, end] },
  );
}
