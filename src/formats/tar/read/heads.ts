import { FormatError } from "../../../base/errors.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import { newSharedMemory } from "../../../io/libc/new_memory.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readUnlessWrong } from "../../../io/read/verified_content.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { NotLoaded } from "../../../tree/not_loaded.ts";
import { padded, TAR_BLOCK } from "../../../base/tar_header.ts";
import { blocksOf, headOf } from "../layout.ts";
import { agrees, LONGEST_GAP } from "./dali_index.ts";
import { NO_HEAD, type TarColumns, type TarIndex } from "./tar_columns.ts";
import { NO_CACHE, optionText } from "../../../base/named_option.ts";

/** Origin of tables that were not just made from the tar itself. */
export interface IndexOrigin {
  /** Path of the adjacent index; `undefined` for the index cache. */
  readonly beside: string | undefined;
  /** Whether it may have been made by anybody, hashes of headers included. */
  readonly isForeign: boolean;
  /** Per record: 1 if its header has been verified. Shared by threads. */
  readonly compared: Uint8Array;
}

/** Returns the origin of an index's tables; `undefined` if it is the tar itself. */
export function originOf(
  { columns, madeBy, isKept, isForeign = false }: TarIndex,
): IndexOrigin | undefined {
  if (madeBy === undefined && isKept !== true && !isForeign) return undefined;
  const compared = new Uint8Array(newSharedMemory(columns.offsets.length));
  return { beside: madeBy, isForeign, compared };
}

/** Verifies headers against an index not just made from this tar: each once, before its content is read. */
export class Heads {
  readonly #source: ByteSource;
  readonly #columns: TarColumns;
  readonly #origin: IndexOrigin;
  readonly #nameOf: (record: number) => string;

  constructor(
    source: ByteSource,
    columns: TarColumns,
    origin: IndexOrigin,
    nameOf: (record: number) => string,
  ) {
    this.#source = source;
    this.#columns = columns;
    this.#origin = origin;
    this.#nameOf = nameOf;
  }

  /**
   * Verifies that a content is preceded by the header that was indexed.
   *
   * @throws {NotLoaded} If the header must be fetched; it is fetched together with the content.
   * @throws {FormatError} If it differs.
   */
  require(record: number): void {
    if (this.#origin.compared[record] === 1) return;
    const { name, readAtSync, prefetch } = this.#source;
    if (readAtSync !== undefined) return runSync(this.#compare(record));
    const start = this.#startOf(record);
    const { offsets, sizes, holes } = this.#columns;
    const size = holes.records.length > 0 ? 0 : sizes[record]!;
    // The content will be read next.
    prefetch?.call(this.#source, start, offsets[record]! - start + size);
    throw new NotLoaded(name, () => this.#compare(record));
  }

  *#compare(record: number): Steps<void> {
    const offset = this.#columns.offsets[record]!;
    const start = this.#startOf(record);
    const length = offset - start;
    const isSame = start >= 0 && length <= LONGEST_GAP &&
      (yield* readUnlessWrong(
        this.#source,
        () => this.#isSame(record, start, length),
        (isSame) => isSame ? undefined : { offset: start, length },
      ));
    if (!isSame) throw this.#stale(record);
    this.#origin.compared[record] = 1;
  }

  *#isSame(record: number, start: number, length: number): Steps<boolean> {
    const { offsets, sizes, heads } = this.#columns;
    const bytes = yield* readPart(this.#source, start, length);
    if (this.#hasHash(record)) {
      return headOf(blocksOf(bytes), 0) === heads[record];
    }
    const [offset, size] = [offsets[record]!, sizes[record]!];
    const file = { name: this.#nameOf(record), offset, size };
    return yield* agrees(bytes, file, !this.#origin.isForeign);
  }

  #hasHash(record: number): boolean {
    return !this.#origin.isForeign && this.#columns.heads[record] !== NO_HEAD;
  }

  /** Returns where the header starts: without a hash of it, at the end of the previous content. */
  #startOf(record: number): number {
    const { offsets, sizes } = this.#columns;
    if (this.#hasHash(record)) return offsets[record]! - TAR_BLOCK;
    return record === 0 ? 0 : offsets[record - 1]! + padded(sizes[record - 1]!);
  }

  #stale(record: number): FormatError {
    const { name: path } = this.#source;
    const { beside } = this.#origin;
    const member = this.#nameOf(record);
    const offset = this.#columns.offsets[record]!;
    const [what, hint] = beside === undefined
      ? [
        this.#origin.isForeign ? "its index" : "the index in the cache",
        `Open it with ${optionText(NO_CACHE)}`,
      ]
      : [beside, `Make ${beside} again, or delete it`];
    return new FormatError(
      "bad-index",
      `Cannot read '${member}' in ${path}: the header at byte ${
        offset - TAR_BLOCK
      } is not the one that ${what} was made from. ${hint}`,
      { path, member, offset, namedOptions: [NO_CACHE] },
    );
  }
}
