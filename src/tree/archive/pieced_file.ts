import { RecordfsError } from "../../base/errors.ts";
import type { ByteSource, ReadOptions } from "../../io/storage/byte_source.ts";
import type { MadeSource } from "../../io/storage/made_source.ts";
import { lastUpTo } from "../shared_numbers.ts";

/** Data ranges of a file: in the file, and in the archive. */
export interface Pieces {
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  readonly places: Float64Array;
}

/** File assembled from ranges of an archive: behind a made start, or with holes that read as zeros. */
export class PiecedFile implements MadeSource {
  readonly holes?: number;
  readonly size: number;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly #archive: ByteSource;
  readonly #memberName: () => string;
  readonly #pieces: Pieces;
  readonly #head: Uint8Array | undefined;

  /** @param head The file's first bytes, in a file without holes. */
  constructor(
    archive: ByteSource,
    memberName: () => string,
    size: number,
    pieces: Pieces,
    head?: Uint8Array,
  ) {
    this.#archive = archive;
    this.#memberName = memberName;
    this.size = size;
    this.#pieces = pieces;
    this.#head = head;
    if (head === undefined) {
      this.holes = pieces.lengths.reduce((left, length) => left - length, size);
    }
    // The presence of such methods indicates whether the source is local or remote.
    if (archive.readAtSync !== undefined) {
      this.readAtSync = (into, offset) => {
        const wanted = this.#cleared(into, offset);
        for (const { part, place } of this.#partsOf(wanted, offset)) {
          const got = archive.readAtSync!(part, place);
          if (got < part.length) throw this.#endedEarly(place);
        }
        return wanted.length;
      };
    }
    if (archive.prefetch !== undefined) {
      this.prefetch = (offset, length) => {
        const { start, end } = this.#stored(offset, length);
        return archive.prefetch!(start, end - start);
      };
    }
    if (archive.invalidate !== undefined) {
      this.invalidate = (offset, length) => {
        const { start, end } = this.#stored(offset, length);
        archive.invalidate!(start, end - start);
      };
    }
  }

  /** Computed on demand, for messages. */
  get name(): string {
    return `${this.#archive.name}: '${this.#memberName()}'`;
  }

  /** Path of the file that stores the content. */
  get storedIn(): string {
    return this.#archive.name;
  }

  get mtime(): number {
    return this.#archive.mtime;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options?: ReadOptions,
  ): Promise<number> {
    const wanted = this.#cleared(into, offset);
    for (const { part, place } of this.#partsOf(wanted, offset)) {
      const got = await this.#archive.readAt(part, place, options);
      if (got < part.length) throw this.#endedEarly(place);
    }
    return wanted.length;
  }

  readCached(into: Uint8Array, offset: number): number {
    const wanted = this.#cleared(into, offset);
    for (const { part, place } of this.#partsOf(wanted, offset)) {
      const got = this.#archive.readCached?.(part, place) ?? 0;
      if (got < part.length) return part.byteOffset - into.byteOffset + got;
    }
    return wanted.length;
  }

  close(): void {} // the tree closes the archive

  /** Returns the part of `into` within the file, with the made start, or filled with zeros. */
  #cleared(into: Uint8Array, offset: number): Uint8Array {
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    if (this.#head === undefined) return wanted.fill(0);
    wanted.set(this.#head.subarray(offset, offset + wanted.length));
    return wanted;
  }

  /** Yields the data within a range, with its location in the archive. */
  *#partsOf(
    wanted: Uint8Array,
    offset: number,
  ): Generator<{ part: Uint8Array; place: number }> {
    const { offsets, lengths, places } = this.#pieces;
    const past = offset + wanted.length;
    for (
      let i = offsets.length === 0 ? 0 : lastUpTo(offsets, offset);
      i < offsets.length && offsets[i]! < past;
      i++
    ) {
      const start = Math.max(offset, offsets[i]!);
      const end = Math.min(past, offsets[i]! + lengths[i]!);
      if (start >= end) continue;
      yield {
        part: wanted.subarray(start - offset, end - offset),
        place: places[i]! + start - offsets[i]!,
      };
    }
  }

  /** Returns the range in the archive that contains a range's data. */
  #stored(offset: number, length: number): { start: number; end: number } {
    const { offsets, lengths, places } = this.#pieces;
    if (offsets.length === 0 || length === 0) return { start: 0, end: 0 };
    const first = lastUpTo(offsets, offset);
    const last = lastUpTo(offsets, offset + length - 1);
    return { start: places[first]!, end: places[last]! + lengths[last]! };
  }

  #endedEarly(offset: number): RecordfsError {
    const { name: path } = this.#archive;
    return new RecordfsError(
      "out-of-bounds",
      `Cannot read ${this.name}: the archive was truncated while it was read. ` +
        "Download it again",
      { path, offset },
    );
  }
}
