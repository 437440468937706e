import type { FormatError } from "../../../base/errors.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readUnlessWrong } from "../../../io/read/verified_content.ts";
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
import { decodeName } from "../../../base/names.ts";
import { isOtherSpelling } from "./spelling.ts";
import type { Member } from "./zip_builder.ts";
import type { ZipColumns } from "./zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Columns that local headers are compared with. */
type LocalColumns = Pick<
  ZipColumns,
  | "headers"
  | "methods"
  | "nodes"
  | "packed"
  | "pathLengths"
  | "pathSums"
  | "sizes"
  | "sums"
>;

/** Local headers, which determine where contents start. They are read on the first access to a content. */
export class LocalHeaders {
  readonly #source: ByteSource;
  readonly #columns: LocalColumns;
  readonly #nameOf: (record: number) => string;
  /** Per record: start of its content; 0 if not known yet. Shared by threads. */
  readonly starts: Float64Array;

  /** @param nameOf Returns the path of a record, for messages. */
  constructor(
    source: ByteSource,
    columns: LocalColumns,
    starts: Float64Array,
    nameOf: (record: number) => string,
  ) {
    this.#source = source;
    this.#columns = columns;
    this.starts = starts;
    this.#nameOf = nameOf;
  }

  /** Returns the header of one member, as record 0. */
  static ofOne(source: ByteSource, member: Member): LocalHeaders {
    const columns = {
      headers: Float64Array.of(member.header),
      methods: Uint32Array.of(member.method),
      nodes: Uint32Array.of(1),
      packed: Float64Array.of(member.packed),
      pathLengths: Uint32Array.of(member.pathLength),
      pathSums: Uint32Array.of(member.pathSum),
      sizes: Float64Array.of(member.size),
      sums: Uint32Array.of(member.crc32),
    };
    const name = decodeName(member.path);
    return new LocalHeaders(source, columns, new Float64Array(1), () => name);
  }

  /**
   * Returns the start of a content, if that needs no waiting. Throws FormatError if the header is missing, or disagrees
   * with the central directory.
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
    // `start` reads wrong cached bytes again.
    const mayBeWrong = this.#source.invalidate !== undefined &&
      this.#faultIn(record, view) !== undefined;
    if (mayBeWrong || this.#needsMore(record, view)) return undefined;
    return this.#take(record, view);
  }

  /** Returns the start of a content; throws like {@linkcode LocalHeaders.startNow}. */
  *start(record: number): Steps<number> {
    const known = this.starts[record]!;
    if (known > 0) return known;
    const offset = this.#columns.headers[record]!;
    const view = yield* readUnlessWrong(
      this.#source,
      () => this.#read(record),
      (view) =>
        this.#faultIn(record, view) && { offset, length: view.byteLength },
    );
    return this.#take(record, view);
  }

  /** Reads a header up to its path, and its extra fields if they are needed. */
  *#read(record: number): Steps<DataView> {
    const header = this.#columns.headers[record]!;
    const left = this.#source.size - header;
    const length = Math.min(this.#lengthOf(record), left);
    const bytes = yield* readPart(this.#source, header, length);
    const view = new DataView(bytes.buffer);
    if (!this.#needsMore(record, view)) return view;
    const all = Math.min(lengthOfAll(view), left);
    const more = yield* readPart(this.#source, header, all);
    return new DataView(more.buffer);
  }

  /** Prefetches a content with its local header. */
  prefetch(record: number): boolean {
    const { headers, packed } = this.#columns;
    const start = headers[record]!;
    const length = this.#lengthOf(record) + packed[record]!;
    return this.#source.prefetch?.(start, length) ?? false;
  }

  #lengthOf(record: number): number {
    return Size.LOCAL + this.#columns.pathLengths[record]!;
  }

  /** Whether the path differs from that in the directory, or sizes are in extra fields. */
  #needsMore(record: number, view: DataView): boolean {
    return isLocal(view) && (!this.#isSamePath(record, view) || hasZip64(view));
  }

  #isSamePath(record: number, view: DataView): boolean {
    const { pathLengths, pathSums } = this.#columns;
    const length = pathLengths[record]!;
    return view.getUint16(26, true) === length &&
      view.byteLength >= Size.LOCAL + length &&
      crc32Of(new Uint8Array(view.buffer, Size.LOCAL, length)) ===
        pathSums[record];
  }

  /** @param view Result of `#read`. */
  #take(record: number, view: DataView): number {
    const fault = this.#faultIn(record, view);
    if (fault !== undefined) throw fault;
    const start = this.#columns.headers[record]! + lengthOfAll(view);
    this.starts[record] = start;
    return start;
  }

  #faultIn(record: number, view: DataView): FormatError | undefined {
    const { methods, packed, sizes, sums, headers } = this.#columns;
    if (!isLocal(view)) {
      return memberError(
        "bad-structure",
        this.#source.name,
        this.#nameOf(record),
        "it has no header where the central directory says: the zip was truncated, joined " +
          "or changed. Download it again",
        { offset: headers[record]! },
      );
    }
    const flags = view.getUint16(6, true);
    if (!this.#isSamePath(record, view) && !this.#isRespelt(record, view)) {
      return this.#disagrees(record, "its path");
    }
    if (view.getUint16(8, true) !== methods[record]) {
      return this.#disagrees(record, "how it is written");
    }
    if ((flags & Flag.ENCRYPTED) !== 0) {
      return this.#disagrees(record, "whether it is encrypted");
    }
    // With a descriptor, they follow the content, and only the directory tells where it ends.
    const told = (flags & Flag.DESCRIPTOR) !== 0 ? undefined : sizesOf(view);
    if (told !== undefined && view.getUint32(14, true) !== sums[record]) {
      return this.#disagrees(record, "its CRC-32");
    }
    const isSize = told === undefined ||
      told.packed === packed[record] && told.size === sizes[record];
    if (!isSize) return this.#disagrees(record, "its size");
    const start = headers[record]! + lengthOfAll(view);
    return start + packed[record]! > this.#source.size
      ? this.#disagrees(record, "where its content starts")
      : undefined;
  }

  #isRespelt(record: number, view: DataView): boolean {
    // A later member has its path, so its own name is unknown, and nobody reads it.
    if (this.#columns.nodes[record] === 0) return true;
    const length = view.getUint16(26, true);
    if (view.byteLength < lengthOfAll(view)) return false;
    const stored = new Uint8Array(view.buffer, Size.LOCAL, length);
    return isOtherSpelling(this.#nameOf(record), stored, extraOf(view));
  }

  #disagrees(record: number, what: string): FormatError {
    const isStored = this.#columns.methods[record] === Method.STORED;
    return memberError(
      "bad-structure",
      this.#source.name,
      this.#nameOf(record),
      `the header before its ${isStored ? "" : "compressed "}content and ` +
        `the central directory disagree on ${what}, so programs would ` +
        "extract different files. Download the zip again, or pack it again",
      { offset: this.#columns.headers[record]! },
    );
  }
}

function isLocal(view: DataView): boolean {
  return view.byteLength >= Size.LOCAL &&
    view.getUint32(0, true) === Signature.LOCAL;
}

/** Length of a header with its path and extra fields. */
function lengthOfAll(view: DataView): number {
  return Size.LOCAL + view.getUint16(26, true) + view.getUint16(28, true);
}

function extraOf(view: DataView): DataView {
  const start = Math.min(
    Size.LOCAL + view.getUint16(26, true),
    view.byteLength,
  );
  return new DataView(view.buffer, view.byteOffset + start);
}

/** Whether sizes of a header are in its zip64 field. */
function hasZip64(view: DataView): boolean {
  return (view.getUint16(6, true) & Flag.DESCRIPTOR) === 0 &&
    (view.getUint32(18, true) === IN_ZIP64 ||
      view.getUint32(22, true) === IN_ZIP64);
}

function sizesOf(view: DataView): { packed: number; size: number } {
  let packed = view.getUint32(18, true);
  let size = view.getUint32(22, true);
  if (!hasZip64(view)) return { packed, size };
  const extra = extraOf(view);
  forEachExtra(extra, 0, extra.byteLength, (kind, start, end) => {
    if (kind !== Extra.ZIP64) return;
    let next = start;
    const take = () => next + 8 > end ? NaN : uint64(extra, (next += 8) - 8);
    if (size === IN_ZIP64) size = take();
    if (packed === IN_ZIP64) packed = take();
  });
  return { packed, size };
}
