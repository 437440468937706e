import { FormatError } from "../../base/errors.ts";
import {
  DECODED_BLOCK,
  type DecodedBlocks,
} from "../block_cache/decoded_blocks.ts";
import {
  DecodedSource,
  mostAtOnce,
  type PieceReader,
} from "../block_cache/decoded_source.ts";
import type { Steps } from "../concurrency/steps.ts";
import { systemDecoder } from "../block_cache/system_decoder.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource, WaitOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import type { CachedParts } from "./long_parts.ts";
import { type Checkpoint, MemberReader } from "./member_reader.ts";
import type { Method } from "./methods.ts";
import type { PartTable } from "./part_columns.ts";
import { checkpointOf, partAt } from "./stream_index.ts";

/** Most parts whose sources are kept at a time. */
const MOST_PARTS = 64;

/** What sources of one stream share. */
export interface DecompressedStream {
  readonly method: Method;
  readonly index: PartTable;
  readonly blocks: DecodedBlocks;
  /** Numbers of the container in the cache of blocks, and of the stream in it. */
  readonly owner: number;
  readonly number: number;
  /** Long parts on the disk, if they may be cached. */
  readonly long: CachedParts | undefined;
  /** Called when a long part is decoded from its start. */
  readonly onLong: (part: number) => void;
}

/** The content of a compressed file. A read decodes the part that it lies in, unless it is cached. */
export class DecompressedSource implements MadeSource {
  readonly origin: ByteSource;
  readonly #stream: DecompressedStream;
  /** In order of use. */
  readonly #parts = new Map<number, DecodedSource>();
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;

  /** @param origin The compressed file; closed with this one, as the long parts. */
  constructor(origin: ByteSource, stream: DecompressedStream) {
    this.origin = origin;
    this.#stream = stream;
    // The presence of these methods shows callers whether the data is remote.
    if (origin.readAtSync) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
    if (origin.prefetch) {
      this.prefetch = (offset, length) => this.#prefetch(offset, length);
    }
    if (origin.invalidate) {
      this.invalidate = (offset, length) => {
        this.#eachPart(
          offset,
          length,
          (part) => part.invalidate!(0, part.size),
        );
      };
    }
  }

  get name(): string {
    return this.origin.name;
  }

  get storedIn(): string {
    return this.origin.name;
  }

  get size(): number {
    return this.#stream.index.size;
  }

  get mtime(): number {
    return this.origin.mtime;
  }

  readCached(into: Uint8Array, offset: number): number {
    let done = 0;
    this.#each(into, offset, (part, piece, at) => {
      const got = part.readCached(piece, at);
      done += got;
      return got === piece.length;
    });
    return done;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    const pieces: [DecodedSource, number, Uint8Array, number][] = [];
    this.#each(into, offset, (part, piece, at, number) => {
      pieces.push([part, number, piece, at]);
      return true;
    });
    let done = 0;
    for (const [part, number, piece, at] of pieces) {
      const got = this.#fromDisk(number, piece, at);
      if (got < piece.length) {
        await part.readAt(piece.subarray(got), at + got, options);
      }
      done += piece.length;
    }
    return done;
  }

  close(): void {
    for (const part of this.#parts.values()) part.close();
    this.#parts.clear();
    this.#stream.long?.close();
    this.origin.close();
  }

  #readNow(into: Uint8Array, offset: number): number {
    let done = 0;
    this.#each(into, offset, (part, piece, at, number) => {
      const got = this.#fromDisk(number, piece, at);
      if (got < piece.length) {
        part.readAtSync!(piece.subarray(got), at + got);
      }
      done += piece.length;
      return true;
    });
    return done;
  }

  #fromDisk(number: number, into: Uint8Array, offset: number): number {
    const { long } = this.#stream;
    return long !== undefined && this.#isLong(number)
      ? long.read(number, into, offset)
      : 0;
  }

  #isLong(number: number): boolean {
    const { starts } = this.#stream.index;
    const most = mostAtOnce(this.#stream.blocks);
    return starts[number + 1]! - starts[number]! > most;
  }

  #prefetch(offset: number, length: number): boolean {
    const { packed } = this.#stream.index;
    const end = Math.min(offset + length, this.size);
    if (end <= offset) return true;
    const start = packed[partAt(this.#stream.index, offset)]!;
    const last = packed[partAt(this.#stream.index, end - 1) + 1]!;
    return this.origin.prefetch!(start, last - start);
  }

  #eachPart(
    offset: number,
    length: number,
    visit: (part: DecodedSource) => void,
  ): void {
    const { index } = this.#stream;
    const end = Math.min(offset + length, this.size);
    for (let at = offset; at < end;) {
      const number = partAt(index, at);
      visit(this.#part(number));
      at = index.starts[number + 1]!;
    }
  }

  /** Visits the pieces of a range by part, until the visitor returns `false`. */
  #each(
    into: Uint8Array,
    offset: number,
    visit: (
      part: DecodedSource,
      piece: Uint8Array,
      at: number,
      number: number,
    ) => boolean,
  ): void {
    const { starts } = this.#stream.index;
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    for (let done = 0; done < wanted.length;) {
      const number = partAt(this.#stream.index, offset + done);
      const at = offset + done - starts[number]!;
      const length = starts[number + 1]! - starts[number]!;
      const piece = wanted.subarray(done, done + length - at);
      if (!visit(this.#part(number), piece, at, number)) return;
      done += piece.length;
    }
  }

  #part(number: number): DecodedSource {
    let part = this.#parts.get(number);
    if (part !== undefined) this.#parts.delete(number);
    else part = this.#newPart(number);
    this.#parts.set(number, part);
    if (this.#parts.size > MOST_PARTS) {
      const [oldest] = this.#parts.keys();
      this.#parts.get(oldest!)!.close();
      this.#parts.delete(oldest!);
    }
    return part;
  }

  #newPart(number: number): DecodedSource {
    const { origin } = this;
    const { index, blocks, owner, number: stream } = this.#stream;
    const { starts, packed } = index;
    const size = starts[number + 1]! - starts[number]!;
    // Parts share no block, although they begin anywhere.
    const first = Math.ceil(starts[number]! / DECODED_BLOCK) + number;
    const [start, end] = [packed[number]!, packed[number + 1]!];
    const content = {
      name: origin.name,
      storedIn: origin.name,
      size,
      mtime: origin.mtime,
      isLocal: origin.readAtSync !== undefined,
      decode: (into: Uint8Array) => this.#decode(number, into),
      pieces: () => this.#pieces(number, size),
      prefetch: origin.prefetch &&
        (() => origin.prefetch!(start, end - start)),
      invalidate: origin.invalidate &&
        (() => origin.invalidate!(start, end - start)),
    };
    return new DecodedSource(content, blocks, owner, stream, first);
  }

  *#decode(number: number, into: Uint8Array): Steps<void> {
    const { index } = this.#stream;
    if (yield* this.#decodeFrames(number, into)) return;
    const reader = this.#readerAt(number);
    try {
      yield* reader.fill(into);
      if (index.isDeclared) {
        return yield* reader.endAt(index.packed[number + 1]!);
      }
    } finally {
      reader.close();
    }
    const sum = crc32Of(into);
    if (sum !== index.sums[number]) throw this.#mismatch(number, sum);
  }

  /** Decodes whole frames of zstd at once, which is faster. Returns `false` if it cannot, or something is wrong. */
  *#decodeFrames(number: number, into: Uint8Array): Steps<boolean> {
    const { method, index } = this.#stream;
    if (method.compression.name !== "zstd") return false;
    const decoder = systemDecoder("zstd");
    const [start, end] = [index.packed[number]!, index.packed[number + 1]!];
    // Skippable frames may have any size.
    if (decoder === undefined || end - start > 2 * into.length) return false;
    const encoded = yield* readPart(this.origin, start, end - start);
    return decoder.decode(encoded, into) &&
      (index.isDeclared || crc32Of(into) === index.sums[number]);
  }

  #pieces(number: number, size: number): PieceReader {
    const { long, onLong, index } = this.#stream;
    onLong(number);
    const reader = this.#readerAt(number);
    const fault = (sum: number) => this.#mismatch(number, sum);
    let done = 0;
    let sum = 0;
    return {
      *next(): Steps<Uint8Array> {
        const piece = yield* reader.next();
        const end = done + (piece?.length ?? 0);
        if (piece === undefined || end > size) {
          reader.close();
          throw fault(sum);
        }
        sum = crc32Of(piece, sum);
        long?.put(number, done, piece);
        done = end;
        if (done < size) return piece;
        long?.end(number, size);
        if (index.isDeclared) yield* reader.endAt(index.packed[number + 1]!);
        reader.close();
        if (!index.isDeclared && sum !== index.sums[number]) throw fault(sum);
        return piece;
      },
    };
  }

  #readerAt(number: number): MemberReader {
    const { method, index } = this.#stream;
    let checkpoint: Checkpoint;
    try {
      checkpoint = checkpointOf(index, number);
    } catch (cause) {
      throw this.#mismatch(number, undefined, cause);
    }
    return new MemberReader(this.origin, method, checkpoint);
  }

  #mismatch(number: number, actual?: number, cause?: unknown): FormatError {
    const { index } = this.#stream;
    const { name } = this.origin;
    const offset = index.packed[number]!;
    return new FormatError(
      "bad-structure",
      `Cannot decompress ${name} from byte ${offset} on: it differs from what was read before. Download it again`,
      { path: name, offset, expected: index.sums[number], actual, cause },
    );
  }
}
