import { FormatError } from "../../base/errors.ts";
import type { WaitOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import { runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { fill } from "../read/read_part.ts";
import { BLOCK, type DecodedBlocks } from "./decoded_blocks.ts";

/** A content that is stored in another form, by which it can only be had from its start. */
export interface EncodedContent {
  /** Name in messages. */
  readonly name: string;
  /** Path of the file that it is stored in, where it is in one: who serves it looks whether that changes. */
  readonly storedIn?: string | undefined;
  /** Bytes of the content, as its container declares it. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime: number;
  /** Whether what is stored can be read without waiting. */
  readonly isLocal: boolean;
  /**
   * Decodes all of it.
   *
   * @param into Has its size.
   * @throws {FormatError} If it is damaged, or of another size.
   */
  decode(into: Uint8Array): Steps<void>;
  /** Decodes it piece by piece, in little memory; `undefined` where that can't be done. */
  pieces?: (() => PieceReader) | undefined;
  /** As of sources: it will be read soon. */
  expect?: (() => boolean) | undefined;
  /** As of sources: invalidates what is cached of it. */
  invalidate?: (() => void) | undefined;
}

/** Decodes a content from its start to its end. */
export interface PieceReader {
  /**
   * The next piece, which is good until the one after it is asked for. It is asked for as long as bytes of the size are
   * missing.
   *
   * @throws {FormatError} If the content is damaged, or of another size.
   */
  next(): Steps<Uint8Array>;
}

/** What is decoded in one go takes at most this part of the room for what is kept. */
const PART_AT_ONCE = 8;
/** Contents of which a thread keeps where it is in decoding them. */
const MOST_RUNNING = 16;

/** Bytes up to which a content is decoded in one go. */
export function mostAtOnce({ capacity }: DecodedBlocks): number {
  return capacity / PART_AT_ONCE;
}

/** Where decoding a content has come. */
interface Running {
  readonly reader: PieceReader;
  /** Bytes that have been decoded. */
  done: number;
  /** The block that they end in; those before it are kept. */
  readonly block: Uint8Array;
}

/** Of all sources of this thread, those that decode piece by piece, in order of use. */
const running = new Set<DecodedSource>();

/**
 * A content that has to be decoded, as a source: it is decoded once, and its blocks are kept as long as there is room. Of
 * a large one, decoding goes on where it was for who reads on.
 */
export class DecodedSource implements MadeSource {
  readonly #content: EncodedContent;
  readonly #blocks: DecodedBlocks;
  readonly #owner: number;
  readonly #number: number;
  #running: Running | undefined;
  /** Reads that wait come one after the other: what one decodes is there for the next. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly expect?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;

  /**
   * @param blocks Where what is decoded is kept.
   * @param owner The container, among those that keep something there.
   * @param number The content's number there.
   */
  constructor(
    content: EncodedContent,
    blocks: DecodedBlocks,
    owner: number,
    number: number,
  ) {
    this.#content = content;
    this.#blocks = blocks;
    this.#owner = owner;
    this.#number = number;
    // Whether there are such methods tells whether it lies far away.
    if (content.isLocal) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
    if (content.expect) this.expect = () => content.expect!();
    if (content.invalidate) {
      this.invalidate = () => {
        blocks.drop(owner, number, content.size);
        this.close();
        content.invalidate!();
      };
    }
  }

  get name(): string {
    return this.#content.name;
  }

  /** Path of the file that the content is stored in, if any. */
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
      const from = at % BLOCK;
      const part = wanted.subarray(done, done + BLOCK - from);
      const block = (at - from) / BLOCK;
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
    this.#turn = turn.catch(() => {}); // whoever reads is told
    return await turn;
  }

  /**
   * Reads exactly `into.length` bytes, for who keeps them: what is read whole is not kept here as well. Keeping takes up
   * to half as long as inflating does.
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
    // Of several threads that want it, one decodes it.
    const isOurs = this.#blocks.claim(this.#owner, this.#number);
    try {
      return runSync(this.#read(into, offset));
    } finally {
      if (isOurs) this.#blocks.release(this.#owner, this.#number);
    }
  }

  *#read(into: Uint8Array, offset: number): Steps<number> {
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    yield* this.#againIfDamaged(() => this.#fill(wanted, offset));
    return wanted.length;
  }

  /** Runs what decodes. If the content is damaged, what a cache of a remote source has of it is read again. */
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
    const all = isAll ? wanted : new Uint8Array(this.size);
    yield* this.#content.decode(all);
    for (let at = 0; at < all.length; at += BLOCK) {
      this.#keep(at / BLOCK, all.subarray(at, at + BLOCK));
    }
    if (!isAll) wanted.set(all.subarray(offset, offset + wanted.length));
  }

  /** Decodes from where it was, or from the start, to the end of what is wanted. */
  *#goOn(wanted: Uint8Array, offset: number): Steps<void> {
    const run = this.#take(offset);
    const end = offset + wanted.length;
    if (run.done > offset) { // in the block that is not full, and so not kept
      const start = offset % BLOCK;
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

  /** Adds a piece to the blocks. */
  #gather(run: Running, piece: Uint8Array): void {
    let taken = 0;
    while (taken < piece.length) {
      const at = run.done % BLOCK;
      const part = piece.subarray(taken, taken + BLOCK - at);
      run.block.set(part, at);
      run.done += part.length;
      taken += part.length;
      const isFull = run.done % BLOCK === 0;
      if (!isFull && run.done < this.size) continue;
      const length = isFull ? BLOCK : run.done % BLOCK;
      const number = Math.ceil(run.done / BLOCK) - 1;
      this.#keep(number, run.block.subarray(0, length));
    }
  }

  #keep(block: number, bytes: Uint8Array): void {
    this.#blocks.put(this.#owner, this.#number, block, bytes);
  }

  /** Takes what is running, so that nobody else does meanwhile; or begins. */
  #take(offset: number): Running {
    const run = this.#running;
    this.#running = undefined;
    if (run !== undefined && run.done - run.done % BLOCK <= offset) return run;
    const reader = this.#content.pieces!();
    return { reader, done: 0, block: new Uint8Array(BLOCK) };
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
