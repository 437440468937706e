import { RecordfsError } from "../../../base/errors.ts";
import type {
  ByteSource,
  ReadOptions,
} from "../../../io/storage/byte_source.ts";
import type { MadeSource } from "../../../io/storage/made_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { MemberSources } from "../../../tree/archive/member_sources.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type { TarColumns } from "./tar_columns.ts";

/** Lists a tar's sparse files by record: each is a source whose holes read as zeros. */
export function sparseFiles(
  tar: { readonly archive: ByteSource; readonly storage: Storage },
  { holes, sizes }: TarColumns,
  nameOf: (record: number) => string,
): MemberSources {
  const { records, starts, offsets, lengths, places } = holes;
  return new MemberSources(tar, (index) => {
    const record = records[index];
    if (record === undefined) return undefined;
    const [from, to] = [starts[index]!, starts[index + 1]!];
    return new SparseFile(tar.archive, () => nameOf(record), sizes[record]!, {
      offsets: offsets.subarray(from, to),
      lengths: lengths.subarray(from, to),
      places: places.subarray(from, to),
    });
  });
}

/** Data ranges of a sparse file: in the file, and in the tar. */
interface Pieces {
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  readonly places: Float64Array;
}

/** Sparse file assembled from its data ranges. */
class SparseFile implements MadeSource {
  readonly holes: number;
  readonly size: number;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly #archive: ByteSource;
  readonly #memberName: () => string;
  readonly #pieces: Pieces;

  constructor(
    archive: ByteSource,
    memberName: () => string,
    size: number,
    pieces: Pieces,
  ) {
    this.#archive = archive;
    this.#memberName = memberName;
    this.size = size;
    this.#pieces = pieces;
    this.holes = pieces.lengths.reduce((left, length) => left - length, size);
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

  close(): void {} // the tree closes the tar

  /** Returns the part of `into` within the file, filled with zeros. */
  #cleared(into: Uint8Array, offset: number): Uint8Array {
    return into.subarray(0, Math.max(0, this.size - offset)).fill(0);
  }

  /** Yields the data within a range, with its location in the tar. */
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

  /** Returns the range in the tar that contains a range's data. */
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
      `Cannot read ${this.name}: the tar was truncated while it was read. ` +
        "Download it again",
      { path, offset },
    );
  }
}
