import { isIndex } from "../../../tree/sample_indices.ts";
import { FormatError, IndexError } from "../../../base/errors.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { type Extent, placeChecked } from "../../../tree/tree.ts";
import { endOfHeader } from "../layout.ts";
import { TableProgress } from "./table_progress.ts";
import { WholeSamples } from "./whole_samples.ts";

/** One `.ffr` file's part in a {@linkcode SampleIndex}; it survives `postMessage`. */
export interface SamplePart {
  /** The file's path. */
  readonly path: string;
  /** The file's size in bytes: where its last sample ends. */
  readonly size: number;
  /** Number of samples. */
  readonly count: number;
  /** Checksums, then offsets in two words each; shared memory. */
  readonly table: Uint32Array;
  /** How far the table is loaded, where other threads than the one that loads it use it already. */
  readonly progress?: Int32Array | undefined;
}

/** Largest high word of an offset that a number holds exactly (2^53). */
const LARGEST_HIGH = 2 ** 21;

/**
 * Where the samples of one or several `.ffr` files are: several files are one sequence of samples.
 * 12 bytes a sample, as in the file, and no object.
 */
export class SampleIndex extends ShardTable<SamplePart> {
  /** Per file: its progress, where there is something to wait for. */
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

  /** What the samples are read from, for messages. */
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
   * Says where a sample is, and its checksum.
   *
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If its offsets are damaged or beyond the file's end.
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
   * Waits until the metadata that say where a sample is are known to be right; only threads that
   * serve a tree while it is loaded have to.
   *
   * @throws {FormatError} If they are not.
   */
  waitUntilSound(index: number): void {
    const part = this.shardOf(index);
    const progress = this.#progress[part];
    if (progress === undefined || progress.isSound) return;
    progress.waitUntilSound(this.shards[part]!.path);
  }

  /**
   * The error of locating a sample that cannot be.
   *
   * @param name What its container calls it.
   */
  faultOf(index: number, name?: string): FormatError {
    const source = this.shardOf(index);
    const part = this.shards[source]!;
    const local = index - this.firsts[source]!;
    const start = offsetAt(part, local);
    const end = endAt(part, local);
    return badExtent(part, index, start, end, name);
  }

  /**
   * Counts the samples of a part before those that the end of its file cuts off. Of a file that was cut, all tables
   * have to be loaded, and of another one what they say of the last sample.
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

  /** The samples that are not cut off, which are looked for once: as {@linkcode SampleIndex.wholeOf} says. */
  get whole(): WholeSamples {
    return this.#whole ??= new WholeSamples(this);
  }

  /** Bytes of a sample that was cut, by its offsets; 0 of the last one, whose end no offset says. */
  cutSizeOf(index: number): number {
    const source = this.shardOf(index);
    const part = this.shards[source]!;
    const local = index - this.firsts[source]!;
    if (local + 1 === part.count) return 0;
    const size = offsetAt(part, local + 1) - offsetAt(part, local);
    return size > 0 ? size : 0;
  }

  /** The offset of a sample as the file has it, however damaged. */
  rawOffset(index: number): number {
    const part = this.shardOf(index);
    return offsetAt(this.shards[part]!, index - this.firsts[part]!);
  }
}

/** Waits for a sample's checksum, offset and the offset of the next one. */
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

/** NaN where the offset is negative or beyond 2^53. */
function offsetAt({ table, count }: SamplePart, local: number): number {
  const high = table[count + 2 * local + 1]!;
  return high < LARGEST_HIGH ? high * 2 ** 32 + table[count + 2 * local]! : NaN;
}

/** Where a sample ends. */
function endAt(part: SamplePart, local: number): number {
  return local + 1 < part.count ? offsetAt(part, local + 1) : part.size;
}

/** @param member What its container calls the sample. */
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
  const place = `${path}: ${what} cannot be read:`;
  const shown = (offset: number) =>
    Number.isNaN(offset) ? "an offset below 0 or above 2^53" : offset;
  const behindHeader = start >= endOfHeader(part.count);
  if (behindHeader && (start === size || Math.max(start, end) > size)) {
    const there = start >= size
      ? `starts at byte ${start}`
      : `goes from byte ${start} to ${end}`;
    return new FormatError(
      "out-of-bounds",
      `${place} it ${there}, and the file ends at byte ${size}: the file is truncated; fetch it again`,
      { ...facts, expected: Math.max(start, end), actual: size },
    );
  }
  return new FormatError(
    "bad-offsets",
    `${place} offset out of range or descending offsets: it would be ` +
      `bytes ${shown(start)} to ${shown(end)} of ${size}; the file is damaged`,
    { ...facts, actual: [start, end] },
  );
}
