import { FormatError } from "../../base/errors.ts";
import { perform, runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { fillNow } from "../../io/read/read_part.ts";
import {
  type Mismatch,
  PiecewiseCheck,
  readVerified,
  readVerifiedSlices,
} from "../../io/read/verified_content.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { checksumOf } from "../../io/checksums/checksum.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { type Extent, newExtent, type NodeId } from "../../tree/tree.ts";
import { nextPiece, type ResponseRoom } from "../response_room.ts";
import { isLate } from "../its_turn.ts";
import type { Served } from "../served.ts";
import type { ByteRange } from "./ranges.ts";

/** Contents up to this many bytes are read whole before any of them is sent; larger ones are streamed. */
export const SMALL = 1 << 20;
/** Contents of more bytes give way to other requests. */
const LARGE = 64 << 10;
/** Bytes verified at a time. */
const CHUNK = 1 << 20;

export interface ContentRoom {
  /** Returns memory of a length, if available. Its previous contents are lost. */
  ofLength(length: number): Uint8Array<ArrayBuffer> | undefined;
}

/** Part of a content that is being read sequentially. */
export interface ContentPart {
  readonly node: NodeId;
  readonly extent: Extent;
  readonly range: ByteRange;
  done: number;
  /** Checksum in progress; `undefined` if the part is not verified. */
  readonly check: PiecewiseCheck | undefined;
}

export interface WholeContent {
  readonly node: NodeId;
  readonly extent: Extent;
  /** Of the content's length. */
  readonly into: Uint8Array<ArrayBuffer>;
}

/** Contents of files. Each is verified against its checksum once, before its first unverified byte is sent. */
export class Contents {
  readonly #served: Served;
  readonly #checked = new CheckedFiles();
  readonly #comparing = new Map<NodeId, Promise<void>>();

  constructor(served: Served) {
    this.#served = served;
  }

  /** Returns where a file's content is stored; `undefined` if the node is not a file. */
  *locate(node: NodeId): Steps<Extent | undefined> {
    const extent = newExtent();
    const { tree } = this.#served;
    return (yield* whenLoaded(() => tree.locate(node, extent)))
      ? extent
      : undefined;
  }

  /** Reads a whole small content if it is cached and valid; `undefined` if it must be awaited or verified again. */
  readAtHand(
    node: NodeId,
    extent: Extent,
    room: ContentRoom,
  ): Uint8Array<ArrayBuffer> | undefined {
    const { bytes, offset, length, checksumKind, checksum } = extent;
    if (bytes !== undefined || length > SMALL) return undefined;
    if (length > LARGE && isLate()) return undefined;
    const into = room.ofLength(length);
    if (into === undefined) return undefined;
    if (length > 0) {
      const got = this.#sourceOf(extent).readCached?.(into, offset);
      if (got !== length) return undefined;
    }
    if (checksumKind !== undefined && this.#mustCompare(node, extent)) {
      if (checksumOf(checksumKind)(into) !== checksum) return undefined;
      this.#checked.add(node);
    }
    return into;
  }

  /** Allocates memory for a range to be read in one piece; `undefined` if it is too large or memory is short. */
  memoryFor(
    { start, end }: ByteRange,
    room: ResponseRoom | undefined,
  ): Uint8Array<ArrayBuffer> | undefined {
    const size = end - start;
    if (size > SMALL) return undefined;
    return room === undefined ? new Uint8Array(size) : room.take(size);
  }

  /** Reads a range of a content into memory of its length. Throws `FormatError` if the content is damaged. */
  *read(
    node: NodeId,
    extent: Extent,
    { start, end }: ByteRange,
    into: Uint8Array<ArrayBuffer> = new Uint8Array(end - start),
  ): Steps<Uint8Array<ArrayBuffer>> {
    const { bytes, offset, length } = extent;
    if (bytes !== undefined) {
      into.set(bytes.subarray(offset + start, offset + end));
      return into;
    }
    const source = this.#sourceOf(extent);
    if (!this.#mustCompare(node, extent)) {
      yield* fillNow(source, into, offset + start);
      return into;
    }
    if (length > SMALL) {
      yield* perform({
        sync: () => {
          throw new TypeError("Large files are compared asynchronously");
        },
        async: () => this.#compared(node, extent),
      });
      yield* fillNow(source, into, offset + start);
      return into;
    }
    const isWhole = into.length === length;
    const whole = isWhole ? into : new Uint8Array(length);
    yield* readVerified(source, extent, whole, this.#mismatch(node, source));
    this.#checked.add(node);
    if (!isWhole) into.set(whole.subarray(start, end));
    return into;
  }

  /** Reads the first bytes of a content, unverified, to detect its type. */
  *peek(extent: Extent, length: number): Steps<Uint8Array> {
    const { bytes, offset } = extent;
    return bytes === undefined
      ? yield* readNow(this.#sourceOf(extent), offset, length)
      : bytes.subarray(offset, offset + length);
  }

  /**
   * Streams a range of a content, of any size. If a whole file is damaged, its last bytes are not sent.
   *
   * @param room Memory to read it into: a piece is valid until the next is requested.
   * @throws {FormatError} If the content is damaged.
   */
  async *pieces(
    node: NodeId,
    extent: Extent,
    range: ByteRange,
    room: ResponseRoom | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    const part = await this.begin(node, extent, range);
    const size = range.end - range.start;
    while (part.done < size) {
      const into = nextPiece(room, size - part.done);
      await this.fill(part, into, signal);
      yield into;
    }
  }

  /** Starts reading a range of a content, to be continued by {@linkcode Contents.fill}. */
  async begin(
    node: NodeId,
    extent: Extent,
    range: ByteRange,
  ): Promise<ContentPart> {
    const mustCompare = extent.bytes === undefined &&
      this.#mustCompare(node, extent);
    const isWhole = range.start === 0 && range.end === extent.length;
    if (mustCompare && !isWhole) await this.#compared(node, extent);
    const check = mustCompare && isWhole
      ? this.#checkOf(node, extent)
      : undefined;
    if (extent.length === 0) check?.end();
    return { node, extent, range, done: 0, check };
  }

  /** Fills memory with the next bytes of a range, which must have enough left. Throws `FormatError` if damaged. */
  async fill(
    part: ContentPart,
    into: Uint8Array,
    signal: AbortSignal,
  ): Promise<void> {
    const { node, extent, range, check } = part;
    const { bytes, length } = extent;
    const at = extent.offset + range.start + part.done;
    part.done += into.length;
    if (bytes !== undefined) {
      into.set(bytes.subarray(at, at + into.length));
      return;
    }
    const source = this.#sourceOf(extent);
    if (check !== undefined && into.length === length) {
      const mismatch = this.#mismatch(node, source);
      await runAsync(readVerified(source, extent, into, mismatch), signal);
      this.#checked.add(node);
      return;
    }
    await runAsync(fillNow(source, into, at), signal);
    if (check === undefined) return;
    check.add(into);
    if (part.done < length) return;
    check.end();
    this.#checked.add(node);
  }

  /** Reads small contents, adjacent ones in one read. Throws `FormatError` if one of them is damaged. */
  async readAll(
    contents: readonly WholeContent[],
    signal: AbortSignal,
  ): Promise<void> {
    const stored = contents.filter(({ extent, into }) => {
      const { bytes, offset, length } = extent;
      if (bytes !== undefined) {
        into.set(bytes.subarray(offset, offset + length));
      }
      return bytes === undefined;
    });
    const extents = stored.map(({ node, extent }) =>
      this.#mustCompare(node, extent)
        ? extent
        : { ...extent, checksumKind: undefined }
    );
    const read = readVerifiedSlices(
      this.#served.tree.sources,
      extents,
      (i, ...sums) => {
        const { node, extent } = stored[i]!;
        return this.#mismatch(node, this.#sourceOf(extent))(...sums);
      },
      stored.map(({ into }) => into),
    );
    await runAsync(read, signal);
    for (const [i, { checksumKind }] of extents.entries()) {
      if (checksumKind !== undefined) this.#checked.add(stored[i]!.node);
    }
  }

  /** Verifies a large file, once for all waiting requests. */
  #compared(node: NodeId, extent: Extent): Promise<void> {
    let comparing = this.#comparing.get(node);
    if (comparing === undefined) {
      comparing = this.#compareAll(node, extent)
        .finally(() => this.#comparing.delete(node));
      this.#comparing.set(node, comparing);
    }
    return comparing;
  }

  async #compareAll(node: NodeId, extent: Extent): Promise<void> {
    const source = this.#sourceOf(extent);
    const into = new Uint8Array(Math.min(CHUNK, extent.length));
    const mismatch = this.#mismatch(node, source);
    await runAsync(readVerified(source, extent, into, mismatch));
    this.#checked.add(node);
  }

  #mustCompare(node: NodeId, { checksumKind }: Extent): boolean {
    return checksumKind !== undefined && this.#served.fs.checkData &&
      !this.#checked.has(node);
  }

  #checkOf(node: NodeId, extent: Extent): PiecewiseCheck {
    const source = this.#sourceOf(extent);
    return new PiecewiseCheck(source, extent, this.#mismatch(node, source));
  }

  /** Returns a function that creates the error of a checksum mismatch. */
  #mismatch(node: NodeId, { name: path }: ByteSource): Mismatch {
    return (expected, actual) => {
      const sample = this.#served.tree.sampleOf?.(node);
      return new FormatError(
        "sample-checksum",
        `Cannot read ${
          sample === undefined ? "" : `sample ${sample} of `
        }${path}: checksum mismatch: the file is damaged. Download it again`,
        { path, sample, expected, actual },
      );
    };
  }

  #sourceOf({ source }: Extent): ByteSource {
    return this.#served.tree.sources.at(source)!;
  }
}

/** Reads part of a source, without waiting if it is cached. */
function* readNow(
  source: ByteSource,
  offset: number,
  length: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const into = new Uint8Array(length);
  yield* fillNow(source, into, offset);
  return into;
}

/** Bits of a page: 8 KiB. */
const PAGE_BITS = 1 << 16;
/** Maximum number of pages, 64 MiB; then all are dropped. */
const MOST_PAGES = 1 << 13;

/** Sparse bit set of the nodes that have been verified. */
class CheckedFiles {
  readonly #pages = new Map<number, Uint32Array>();

  has(node: number): boolean {
    const page = this.#pages.get(Math.floor(node / PAGE_BITS));
    if (page === undefined) return false;
    const bit = node % PAGE_BITS;
    return (page[bit >>> 5]! >>> (bit & 31) & 1) === 1;
  }

  add(node: number): void {
    const number = Math.floor(node / PAGE_BITS);
    let page = this.#pages.get(number);
    if (page === undefined) {
      if (this.#pages.size === MOST_PAGES) this.#pages.clear();
      this.#pages.set(number, page = new Uint32Array(PAGE_BITS / 32));
    }
    const bit = node % PAGE_BITS;
    page[bit >>> 5]! |= 1 << (bit & 31);
  }
}
