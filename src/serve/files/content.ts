import { FormatError } from "../../errors.ts";
import { perform, runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { fillAsync, fillNow } from "../../io/read/read_part.ts";
import { bareSum, emptySum, sumLike } from "../../io/sums/content_sum.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { type Extent, newExtent, type NodeId } from "../../tree/tree.ts";
import type { Served } from "../served.ts";
import { CheckedNodes } from "./checked_nodes.ts";
import type { ByteRange } from "./ranges.ts";

/** Bytes of a content that is read whole before any of it is sent; larger ones are streams. */
export const SMALL = 1 << 20;
/** Bytes that a stream reads at a time. */
const CHUNK = 1 << 20;

/** Memory that a content is put into. */
export interface ContentRoom {
  /** So many bytes of it; what was there is gone. */
  ofLength(length: number): Uint8Array<ArrayBuffer>;
}

/** The content of files: compared with its checksum once, before a byte of it that was not compared yet is sent. */
export class Contents {
  readonly #served: Served;
  readonly #checked = new CheckedNodes();
  /** Large files that are being compared. */
  readonly #comparing = new Map<NodeId, Promise<void>>();

  constructor(served: Served) {
    this.#served = served;
  }

  /** Where a file's content is, or `undefined` where the node is none. */
  *locate(node: NodeId): Steps<Extent | undefined> {
    const extent = newExtent();
    const { tree } = this.#served;
    return (yield* whenLoaded(() => tree.locate(node, extent)))
      ? extent
      : undefined;
  }

  /**
   * All of a small content, where it is in memory and right; `undefined` where it has to be waited for, or looked at again.
   *
   * @param room What it is read into.
   */
  readAtHand(
    node: NodeId,
    extent: Extent,
    room: ContentRoom,
  ): Uint8Array<ArrayBuffer> | undefined {
    const { bytes, offset, length, crc32 } = extent;
    if (bytes !== undefined || length > SMALL) return undefined;
    const into = room.ofLength(length);
    if (length > 0) {
      const got = this.#sourceOf(extent).readCached?.(into, offset);
      if (got !== length) return undefined;
    }
    if (this.#mustCompare(node, extent)) {
      if (sumLike(crc32)(into) !== crc32) return undefined;
      this.#checked.add(node);
    }
    return into;
  }

  /** Bytes of a content that is not yet compared, or is in memory, come in one piece where they are few. */
  isSmall({ bytes, length }: Extent, range: ByteRange): boolean {
    return bytes !== undefined || length <= SMALL ||
      range.end - range.start <= SMALL;
  }

  /**
   * A part of a content.
   *
   * @throws {FormatError} If the content is damaged.
   */
  *read(
    node: NodeId,
    extent: Extent,
    range: ByteRange,
  ): Steps<Uint8Array<ArrayBuffer>> {
    const { start, end } = range;
    const { bytes, offset, length } = extent;
    if (bytes !== undefined) {
      return bytes.slice(offset + start, offset + end) as Uint8Array<
        ArrayBuffer
      >;
    }
    const source = this.#sourceOf(extent);
    if (!this.#mustCompare(node, extent)) {
      return yield* readNow(source, offset + start, end - start);
    }
    if (length > SMALL) {
      yield* perform({
        sync: () => {
          throw new TypeError("Large files are compared asynchronously");
        },
        async: () => this.#compared(node, extent),
      });
      return yield* readNow(source, offset + start, end - start);
    }
    let whole = yield* readNow(source, offset, length);
    const sum = sumLike(extent.crc32);
    if (sum(whole) !== extent.crc32 && source.refetch !== undefined) {
      source.refetch(offset, length); // a cache may have it wrong
      whole = yield* readNow(source, offset, length);
    }
    this.#compare(node, extent, sum(whole));
    return length === end - start ? whole : whole.slice(start, end);
  }

  /** The first bytes of a content, which only its type is taken from: they are not compared. */
  *peek(extent: Extent, length: number): Steps<Uint8Array> {
    const { bytes, offset } = extent;
    return bytes === undefined
      ? yield* readNow(this.#sourceOf(extent), offset, length)
      : bytes.subarray(offset, offset + length);
  }

  /**
   * A part of a content piece by piece, for parts of any size. Of a whole file that is damaged, the last bytes do not
   * come.
   *
   * @throws {FormatError} If the content is damaged.
   */
  async *pieces(
    node: NodeId,
    extent: Extent,
    { start, end }: ByteRange,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    if (extent.bytes !== undefined) {
      yield await runAsync(this.read(node, extent, { start, end }), signal);
      return;
    }
    const { offset, length } = extent;
    const source = this.#sourceOf(extent);
    const mustCompare = this.#mustCompare(node, extent);
    const isWhole = start === 0 && end === length;
    if (mustCompare && !isWhole) await this.#compared(node, extent);
    const summed = mustCompare && isWhole;
    const sum = sumLike(extent.crc32);
    let crc = emptySum(extent.crc32);
    for (let at = start; at < end; at += CHUNK) {
      const size = Math.min(CHUNK, end - at);
      const piece = new Uint8Array(size);
      const got = source.readCached?.(piece, offset + at) ?? 0;
      if (got < size) {
        const rest = piece.subarray(got);
        await fillAsync(source, rest, offset + at + got, false, signal);
      }
      if (summed) {
        crc = sum(piece, crc);
        if (at + size === end) this.#compare(node, extent, crc);
      }
      yield piece;
    }
  }

  /** Compares a large file, once for all who wait for it. */
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
    const { offset, length } = extent;
    const source = this.#sourceOf(extent);
    const into = new Uint8Array(Math.min(CHUNK, length));
    const sum = sumLike(extent.crc32);
    let crc = emptySum(extent.crc32);
    for (let at = 0; at < length; at += CHUNK) {
      const piece = into.subarray(0, Math.min(CHUNK, length - at));
      await fillAsync(source, piece, offset + at, false, undefined);
      crc = sum(piece, crc);
    }
    this.#compare(node, extent, crc);
  }

  #mustCompare(node: NodeId, { crc32 }: Extent): boolean {
    return crc32 >= 0 && this.#served.fs.checkData && !this.#checked.has(node);
  }

  #compare(node: NodeId, extent: Extent, crc: number): void {
    const { crc32, offset, length } = extent;
    if (crc === crc32) return this.#checked.add(node);
    const source = this.#sourceOf(extent);
    source.refetch?.(offset, length); // for who tries again
    const sample = this.#served.tree.sampleOf?.(node);
    throw new FormatError(
      "sample-checksum",
      `${source.name}: checksum mismatch${
        sample === undefined ? "" : ` in sample ${sample}`
      }: its bytes are not those that were written; fetch the container again`,
      {
        path: source.name,
        sample,
        expected: bareSum(crc32),
        actual: bareSum(crc),
      },
    );
  }

  #sourceOf({ source }: Extent): ByteSource {
    return this.#served.tree.sources.at(source)!;
  }
}

/** Reads a part of a source: without waiting, where it is at hand. */
function* readNow(
  source: ByteSource,
  offset: number,
  length: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const into = new Uint8Array(length);
  yield* fillNow(source, into, offset);
  return into;
}
