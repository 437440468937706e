import { FormatError } from "../../base/errors.ts";
import type { WaitOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import { runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { fill } from "../read/read_part.ts";
import { SpareMemory } from "../read/spare_memory.ts";
import { DECODED_BLOCK, type DecodedBlocks } from "./decoded_blocks.ts";

/** A content stored in an encoded form that can only be decoded from the start. */
export interface EncodedContent {
  readonly name: string;
  /** Path of the file it is stored in, if any. Servers watch it for changes. */
  readonly storedIn?: string | undefined;
  /** Size of the content in bytes, as declared by its container. */
  readonly size: number;
  readonly mtime: number;
  /** Whether the stored form can be read without waiting. */
  readonly isLocal: boolean;
  /** Decodes the whole content into memory of its size. Throws a {@linkcode FormatError} if it is damaged. */
  decode(into: Uint8Array): Steps<void>;
  /** Decodes with little memory; `undefined` if unsupported. */
  pieces?: (() => PieceReader) | undefined;
  prefetch?: (() => boolean) | undefined;
  invalidate?: (() => void) | undefined;
}

export interface PieceReader {
  /**
   * Returns the next piece, valid until the following call. Called while the content is incomplete. Throws a
   * {@linkcode FormatError} if the content is damaged or has another size.
   */
  next(): Steps<Uint8Array>;
}

/** Contents up to this fraction of the cache, an eighth, are decoded in one go. */
const PART_AT_ONCE = 8;
/** Most contents that a thread is decoding in pieces. */
const MOST_RUNNING = 16;

export function mostAtOnce({ capacity }: DecodedBlocks): number {
  return capacity / PART_AT_ONCE;
}

/** Memory that contents of up to 8 MiB, as the parts of streams are, are decoded into. */
const spare = new SpareMemory(undefined, 8 << 20);

interface Running {
  readonly reader: PieceReader;
  done: number;
  /** The block that they end in. Those before it are cached. */
  readonly block: Uint8Array;
}

/** This thread's sources that decode in pieces, in order of use. */
const running = new Set<DecodedSource>();

/**
 * Source of an encoded content. It is decoded once and its blocks are cached. For a large one, sequential reads
 * continue decoding where it stopped.
 */
export class DecodedSource implements MadeSource {
  readonly #content: EncodedContent;
  readonly #blocks: DecodedBlocks;
  readonly #owner: number;
  readonly #number: number;
  readonly #first: number;
  #running: Running | undefined;
  /** Serializes asynchronous reads, so that one can use what the one before has decoded. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;

  /**
   * @param owner The container's number in the cache.
   * @param number The content's number in the container.
   * @param first Number of the first block, if it is a part of the content.
   */
  constructor(
    content: EncodedContent,
    blocks: DecodedBlocks,
    owner: number,
    number: number,
    first = 0,
  ) {
    this.#content = content;
    this.#blocks = blocks;
    this.#owner = owner;
    this.#number = number;
    this.#first = first;
    // The presence of these methods shows callers whether the data is remote.
    if (content.isLocal) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
    if (content.prefetch) this.prefetch = () => content.prefetch!();
    if (content.invalidate) {
      this.invalidate = () => {
        blocks.drop(owner, number, content.size, first);
        this.close();
        content.invalidate!();
      };
    }
  }

  get name(): string {
    return this.#content.name;
  }

  get storedIn(): string | undefined {
    return this.#content.storedIn;
  }

  get size(): number {
    return this.#content.size;
  }

  get mtime(): number {
    return this.#content.mtime;
  }

  readCached(into: Uint8Array, offset: number): number {
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    let done = 0;
    while (done < wanted.length) {
      const at = offset + done;
      const from = at % DECODED_BLOCK;
      const part = wanted.subarray(done, done + DECODED_BLOCK - from);
      const block = this.#first + (at - from) / DECODED_BLOCK;
      const isThere = this.#blocks.read(
        this.#owner,
        this.#number,
        block,
        part,
        from,
      );
      if (!isThere) break;
      done += part.length;
    }
    return done;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    { signal }: WaitOptions = {},
  ): Promise<number> {
    signal?.throwIfAborted();
    const turn = this.#turn.then(() =>
      runAsync(this.#read(into, offset), signal)
    );
    this.#turn = turn.catch(() => {}); // the reader gets the error
    return await turn;
  }

  /**
   * Reads exactly `into.length` bytes, for callers that cache them. A content read whole is not cached here as well,
   * because that would take up to half as long as inflating it.
   */
  *fillToKeep(into: Uint8Array, offset: number): Steps<void> {
    const isWhole = into.length === this.size && this.#isDecodedAtOnce;
    if (isWhole && this.readCached(into, 0) < this.size) {
      yield* this.#againIfDamaged(() => this.#content.decode(into));
    } else yield* fill(this, into, offset);
  }

  close(): void {
    this.#running = undefined;
    running.delete(this);
  }

  get #isDecodedAtOnce(): boolean {
    return this.#content.pieces === undefined ||
      this.size <= mostAtOnce(this.#blocks);
  }

  #readNow(into: Uint8Array, offset: number): number {
    if (!this.#isDecodedAtOnce) return runSync(this.#read(into, offset));
    const length = Math.min(into.length, Math.max(0, this.size - offset));
    if (this.readCached(into, offset) === length) return length;
    // If several threads want it, one decodes it.
    const [blocks, key] = [
      this.#blocks,
      [this.#owner, this.#number, this.#first] as const,
    ];
    const isOurs = blocks.claim(...key);
    try {
      return runSync(this.#read(into, offset));
    } finally {
      if (isOurs) blocks.release(...key);
    }
  }

  *#read(into: Uint8Array, offset: number): Steps<number> {
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    yield* this.#againIfDamaged(() => this.#fill(wanted, offset));
    return wanted.length;
  }

  /** Runs a decoder. If the content is damaged and its source is cached, invalidates that and decodes again. */
  *#againIfDamaged(decode: () => Steps<void>): Steps<void> {
    try {
      return yield* decode();
    } catch (error) {
      const isDamaged = error instanceof FormatError &&
        error.code !== "changed";
      if (this.invalidate === undefined || !isDamaged) throw error;
    }
    this.invalidate(0, this.size);
    yield* decode();
  }

  *#fill(wanted: Uint8Array, offset: number): Steps<void> {
    const done = this.readCached(wanted, offset);
    if (done === wanted.length) return;
    if (this.#isDecodedAtOnce) yield* this.#decode(wanted, offset);
    else yield* this.#goOn(wanted.subarray(done), offset + done);
  }

  *#decode(wanted: Uint8Array, offset: number): Steps<void> {
    const isAll = wanted.length === this.size;
    const all = isAll ? wanted : spare.take(this.size);
    yield* this.#content.decode(all);
    for (let at = 0; at < all.length; at += DECODED_BLOCK) {
      this.#keep(at / DECODED_BLOCK, all.subarray(at, at + DECODED_BLOCK));
    }
    if (isAll) return;
    wanted.set(all.subarray(offset, offset + wanted.length));
    spare.giveBack(all);
  }

  /** Continues decoding, or starts again, up to the end of the wanted range. */
  *#goOn(wanted: Uint8Array, offset: number): Steps<void> {
    const run = this.#take(offset);
    const end = offset + wanted.length;
    if (run.done > offset) { // in the partial block, which is not cached yet
      const start = offset % DECODED_BLOCK;
      const part = run.block.subarray(start, start + run.done - offset);
      wanted.set(part.subarray(0, wanted.length));
    }
    while (run.done < end) {
      const piece = yield* run.reader.next();
      const from = Math.max(0, offset - run.done);
      const to = Math.min(piece.length, end - run.done);
      if (to > from) {
        wanted.set(piece.subarray(from, to), run.done + from - offset);
      }
      this.#gather(run, piece);
    }
    this.#giveBack(run);
  }

  #gather(run: Running, piece: Uint8Array): void {
    let taken = 0;
    while (taken < piece.length) {
      const at = run.done % DECODED_BLOCK;
      const part = piece.subarray(taken, taken + DECODED_BLOCK - at);
      run.block.set(part, at);
      run.done += part.length;
      taken += part.length;
      const isFull = run.done % DECODED_BLOCK === 0;
      if (!isFull && run.done < this.size) continue;
      const length = isFull ? DECODED_BLOCK : run.done % DECODED_BLOCK;
      const number = Math.ceil(run.done / DECODED_BLOCK) - 1;
      this.#keep(number, run.block.subarray(0, length));
    }
  }

  #keep(block: number, bytes: Uint8Array): void {
    this.#blocks.put(this.#owner, this.#number, this.#first + block, bytes);
  }

  /** Takes the running decoder, so that nobody else uses it meanwhile; or starts one. */
  #take(offset: number): Running {
    const run = this.#running;
    this.#running = undefined;
    if (run !== undefined && run.done - run.done % DECODED_BLOCK <= offset) {
      return run;
    }
    const reader = this.#content.pieces!();
    return { reader, done: 0, block: new Uint8Array(DECODED_BLOCK) };
  }

  #giveBack(run: Running): void {
    running.delete(this);
    if (run.done >= this.size) return;
    this.#running = run;
    running.add(this);
    if (running.size <= MOST_RUNNING) return;
    const [oldest] = running;
    oldest!.close();
  }
}
