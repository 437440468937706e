import { viewOf } from "../../../base/view_of.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import { lookup3 } from "../../../io/checksums/lookup3.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";

/** Bytes of a page of metadata, and of the pages that are cached. */
export const PAGE = 4096;
const MOST_KEPT = 16 << 20;
/** Pages that are recorded. */
const MOST_RECORDED = 1 << 14;
/** Largest structure in bytes. */
const MOST_PART = 64 << 20;
/**
 * Bytes of metadata that may be read until {@linkcode Metadata.renew}: structures do not overlap, so that a file has no
 * more than its size, and a few are read again. Files may have holes, so that their size alone is no limit.
 */
const MOST_PASSES = 32;
const SPARE = 64 << 20;
const MOST_READ = 4 * 2 ** 30;
/** Bytes that the reading of a small structure counts as. */
const LEAST = 256;
/** Longest name in bytes. */
const MOST_NAME = 65_536;
const CHECKSUM = 4;

/** Address of what is not there. */
export const NOWHERE = -1;

/** Pages of all files of this thread, by file and number. */
const KEPT = new LruCache<Uint8Array, string>(MOST_KEPT);
let files = 0;

/** Structures of a file: where it begins in its source, and how wide its addresses and lengths are. */
export class Metadata {
  readonly source: ByteSource;
  /** Offset of address 0 in the source. */
  readonly base: number;
  readonly offsetSize: number;
  readonly lengthSize: number;
  /** Pages that need not be read; those that are read are added, while they are few. */
  recorded: Map<number, Uint8Array> | undefined;
  /** Number of the file in this thread, for keys of caches that files share. */
  readonly number: number = files++;
  #left = 0;

  constructor(
    source: ByteSource,
    form: Pick<Metadata, "base" | "offsetSize" | "lengthSize">,
  ) {
    this.source = source;
    this.base = form.base;
    this.offsetSize = form.offsetSize;
    this.lengthSize = form.lengthSize;
    this.renew();
  }

  /** Number of addresses. */
  get size(): number {
    return this.source.size - this.base;
  }

  /** Allows as many reads again. */
  renew(): void {
    this.#left = Math.min(MOST_READ, MOST_PASSES * this.source.size + SPARE);
  }

  /**
   * Reads a structure.
   *
   * @throws {CellFault} If it is not inside the file, or structures that lead to each other have been read too often.
   */
  *part(address: number, length: number): Steps<Cursor> {
    if (!(address >= 0 && length >= 0 && address + length <= this.size)) {
      throw new CellFault("leads out of the file");
    }
    if (length > MOST_PART) {
      throw new CellFault(`has a structure of ${length} bytes`, "too-large");
    }
    this.charge(Math.max(length, LEAST));
    const start = this.base + address;
    const first = Math.floor(start / PAGE);
    const past = Math.ceil((start + length) / PAGE);
    const from = start - first * PAGE;
    if (past - first === 1) {
      const page = yield* this.#page(first);
      return new Cursor(page.subarray(from, from + length), this);
    }
    const bytes = new Uint8Array((past - first) * PAGE);
    this.source.prefetch?.(start, length);
    for (let page = first; page < past; page++) {
      bytes.set(yield* this.#page(page), (page - first) * PAGE);
    }
    return new Cursor(bytes.subarray(from, from + length), this);
  }

  /** Counts bytes as read: of names, which are compared, and which many links may share. */
  charge(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new CellFault("has structures that overlap");
  }

  /** Reads a structure that ends with the checksum of the rest, and may begin with a signature and a version. */
  *sealed(address: number, length: number, signature = ""): Steps<Cursor> {
    const part = yield* this.part(address, length);
    if (signature !== "") part.expect(signature);
    const { bytes, view } = part;
    const sum = lookup3(bytes.subarray(0, length - CHECKSUM));
    if (sum !== view.getUint32(length - CHECKSUM, true)) {
      throw new CellFault(`has a wrong checksum at byte ${address}`, "sum");
    }
    return part;
  }

  *#page(number: number): Steps<Uint8Array> {
    const key = `${this.number} ${number}`;
    const known = this.recorded?.get(number) ?? KEPT.get(key);
    if (known !== undefined) return known;
    const start = number * PAGE;
    const length = Math.min(PAGE, this.source.size - start);
    const bytes = yield* readPart(this.source, start, length);
    KEPT.set(key, bytes, PAGE);
    this.recorded?.set(number, bytes);
    if (this.recorded?.size === MOST_RECORDED) this.recorded = undefined;
    return bytes;
  }
}

/** Reads the fields of a structure in their order. Throws a `RangeError` or {@linkcode CellFault} behind its end. */
export class Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at = 0;
  readonly #sizes: Pick<Metadata, "offsetSize" | "lengthSize">;

  constructor(
    bytes: Uint8Array,
    sizes: Pick<Metadata, "offsetSize" | "lengthSize">,
  ) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.#sizes = sizes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  u8(): number {
    return this.view.getUint8(this.at++);
  }

  u16(): number {
    return this.uint(2);
  }

  u32(): number {
    return this.uint(4);
  }

  /** Returns a little-endian number of so many bytes. */
  uint(size: number): number {
    let value = 0;
    for (let i = size - 1; i >= 0; i--) {
      value = value * 256 + this.view.getUint8(this.at + i);
    }
    this.at += size;
    return value;
  }

  /** Returns an address, or {@linkcode NOWHERE}. */
  offset(): number {
    const { offsetSize } = this.#sizes;
    const value = this.uint(offsetSize);
    return value >= 256 ** offsetSize - 1 ? NOWHERE : value;
  }

  length(): number {
    return this.uint(this.#sizes.lengthSize);
  }

  take(length: number): Uint8Array {
    if (!(length <= this.left)) throw new CellFault("is cut");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  cursor(length: number): Cursor {
    return new Cursor(this.take(length), this.#sizes);
  }

  skip(length: number): this {
    this.take(length);
    return this;
  }

  /** Returns bytes up to a NUL, and skips padding to a multiple of so many. */
  name(multiple = 1): Uint8Array {
    const end = this.bytes.subarray(this.at, this.at + MOST_NAME).indexOf(0);
    if (end < 0) throw new CellFault("has a name without its end");
    const name = this.take(end);
    this.skip(Math.ceil((name.length + 1) / multiple) * multiple - name.length);
    return name;
  }

  /** Skips a signature and the version after it. */
  expect(signature: string): number {
    const found = utf8Text(this.take(signature.length));
    if (found === signature) return this.u8();
    throw new CellFault(`has no ${signature} where one should be`);
  }
}
