import type { FormatError } from "../../../errors.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  Extra,
  Flag,
  forEachExtra,
  IN_ZIP64,
  Method,
  Signature,
  Size,
  uint64,
} from "../layout.ts";
import type { ZipColumns } from "./zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** What the headers before contents say: where each content starts. They are read when a content is first asked for. */
export class LocalHeaders {
  readonly #source: ByteSource;
  readonly #columns: ZipColumns;
  readonly #nameOf: (record: number) => string;
  /** Per record: where its content starts; 0 until that is known. Threads share it. */
  readonly starts: Float64Array;

  /** @param nameOf The path of a record, for messages. */
  constructor(
    source: ByteSource,
    columns: ZipColumns,
    starts: Float64Array,
    nameOf: (record: number) => string,
  ) {
    this.#source = source;
    this.#columns = columns;
    this.starts = starts;
    this.#nameOf = nameOf;
  }

  /**
   * Where a content starts, if that needs no waiting.
   *
   * @throws {FormatError} If the header is not there, or says something else than the central directory.
   */
  startNow(record: number): number | undefined {
    const known = this.starts[record]!;
    if (known > 0) return known;
    if (this.#source.readAtSync !== undefined) {
      return runSync(this.start(record));
    }
    const length = this.#lengthOf(record);
    const bytes = new Uint8Array(length);
    const header = this.#columns.headers[record]!;
    const got = this.#source.readCached?.(bytes, header) ?? 0;
    if (got < length) return undefined;
    const view = new DataView(bytes.buffer);
    if (hasZip64(view)) return undefined;
    return this.#take(record, view, undefined);
  }

  /** Where a content starts; as {@linkcode LocalHeaders.startNow}. */
  *start(record: number): Steps<number> {
    const known = this.starts[record]!;
    if (known > 0) return known;
    const length = this.#lengthOf(record);
    const header = this.#columns.headers[record]!;
    const bytes = yield* readPart(this.#source, header, length);
    const view = new DataView(bytes.buffer);
    let extra: DataView | undefined;
    if (hasZip64(view)) {
      const left = this.#source.size - header - length;
      const all = Math.min(view.getUint16(28, true), left);
      const read = yield* readPart(this.#source, header + length, all);
      extra = new DataView(read.buffer);
    }
    return this.#take(record, view, extra);
  }

  /** Says that a content will be read soon, with the header before it: that has to be fetched as well. */
  expect(record: number): boolean {
    const { headers, packed } = this.#columns;
    const start = headers[record]!;
    const length = this.#lengthOf(record) + packed[record]!;
    return this.#source.expect?.(start, length) ?? false;
  }

  #lengthOf(record: number): number {
    return Size.LOCAL + this.#columns.pathLengths[record]!;
  }

  #take(
    record: number,
    view: DataView,
    extra: DataView | undefined,
  ): number {
    const { headers, packed } = this.#columns;
    this.#compare(record, view, extra);
    const start = headers[record]! + view.byteLength +
      view.getUint16(28, true);
    if (start + packed[record]! > this.#source.size) {
      throw this.#disagrees(record, "where its content starts");
    }
    this.starts[record] = start;
    return start;
  }

  #compare(
    record: number,
    view: DataView,
    extra: DataView | undefined,
  ): void {
    const { methods, packed, sizes, sums, pathLengths, pathSums } =
      this.#columns;
    if (view.getUint32(0, true) !== Signature.LOCAL) {
      throw memberError(
        "bad-structure",
        this.#source.name,
        this.#nameOf(record),
        "has no header where the central directory says: the zip was cut, joined or changed; fetch it again",
        { offset: this.#columns.headers[record]! },
      );
    }
    const flags = view.getUint16(6, true);
    const path = new Uint8Array(view.buffer, Size.LOCAL);
    const isPath = view.getUint16(26, true) === pathLengths[record] &&
      crc32Of(path) === pathSums[record];
    if (!isPath) throw this.#disagrees(record, "its path");
    if (view.getUint16(8, true) !== methods[record]) {
      throw this.#disagrees(record, "how it is written");
    }
    if ((flags & Flag.ENCRYPTED) !== 0) {
      throw this.#disagrees(record, "whether it is encrypted");
    }
    // They stand behind the content, of which the directory alone tells where that is.
    if ((flags & Flag.DESCRIPTOR) !== 0) return;
    const told = sizesOf(view, extra);
    if (view.getUint32(14, true) !== sums[record]) {
      throw this.#disagrees(record, "its CRC-32");
    }
    if (told.packed !== packed[record] || told.size !== sizes[record]) {
      throw this.#disagrees(record, "its size");
    }
  }

  #disagrees(record: number, what: string): FormatError {
    const isStored = this.#columns.methods[record] === Method.STORED;
    return memberError(
      "bad-structure",
      this.#source.name,
      this.#nameOf(record),
      `has a header before its ${
        isStored ? "" : "compressed "
      }content that says something else of ${what} than the ` +
        "central directory: programs would extract different files; fetch the zip again, or pack it again",
      { offset: this.#columns.headers[record]! },
    );
  }
}

/** Whether the sizes of a header stand behind it. */
function hasZip64(view: DataView): boolean {
  return (view.getUint16(6, true) & Flag.DESCRIPTOR) === 0 &&
    (view.getUint32(18, true) === IN_ZIP64 ||
      view.getUint32(22, true) === IN_ZIP64);
}

function sizesOf(
  view: DataView,
  extra: DataView | undefined,
): { packed: number; size: number } {
  let packed = view.getUint32(18, true);
  let size = view.getUint32(22, true);
  if (extra === undefined) return { packed, size };
  forEachExtra(extra, 0, extra.byteLength, (kind, start, end) => {
    if (kind !== Extra.ZIP64) return;
    let next = start;
    const take = () => next + 8 > end ? NaN : uint64(extra, (next += 8) - 8);
    if (size === IN_ZIP64) size = take();
    if (packed === IN_ZIP64) packed = take();
  });
  return { packed, size };
}
