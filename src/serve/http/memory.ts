import { type AnswerRoom, PIECE } from "../answer_room.ts";
import { ServeError } from "../serve_error.ts";

/** Bytes that all threads of a server may hold for clients that take nothing, or have not asked to the end. */
const TOTAL = 128 << 20;
/** Bytes that each connection may have beside that, of its request and of its answer. */
export const OWN = 16 << 10;
/** Whole answers that have more bytes leave a quarter to those that have fewer. */
const LARGE = 128 << 10;
/** How many pieces as large as the next one must be free: who comes later gets smaller ones, and need not wait. */
const NEXT_PIECES = 8;

/** Bytes before a piece, for its length in hexadecimal digits and a line end, and behind it. */
const CHUNK_START = 10;
const CHUNK_END = 2;
/** How long is waited for memory that others have, in milliseconds. */
const LONGEST_WAIT = 10_000;

/** A number of bytes that are lent, first come, first served. */
export class Budget {
  readonly total: number;
  #free: number;
  readonly #waiting = new Set<{ readonly bytes: number; take(): void }>();

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /** Bytes that nobody has; negative where some were taken that had to be. */
  get free(): number {
    return this.#free;
  }

  /** Bytes that are lent. */
  get lent(): number {
    return this.total - this.#free;
  }

  /** Takes bytes, unless they are not there, or others wait. */
  take(bytes: number): boolean {
    if (bytes > this.#free || this.#waiting.size > 0) return false;
    this.#free -= bytes;
    return true;
  }

  /** Takes bytes that are used already. */
  add(bytes: number): void {
    this.#free -= bytes;
  }

  give(bytes: number): void {
    this.#free += bytes;
    for (const next of this.#waiting) {
      if (next.bytes > this.#free) return;
      this.#waiting.delete(next);
      this.#free -= next.bytes;
      next.take();
    }
  }

  /** Takes bytes when they are there. */
  wait(bytes: number): Waiting {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const next = { bytes, take: resolve };
    if (this.take(bytes)) resolve();
    else this.#waiting.add(next);
    const leave = (reason: Error) => {
      if (!this.#waiting.delete(next)) return;
      reject(reason);
      this.give(0); // who comes behind may want less
    };
    return { promise, leave };
  }
}

/** A client that waits for memory. */
interface Waiting {
  readonly promise: Promise<void>;
  /** Ends the waiting by an error, if it has not ended. */
  leave(reason: Error): void;
}

/** The share of a thread in a server's memory. Each kind has its own, so that none keeps the others waiting. */
export class ServerMemory {
  /** Of heads and bodies of requests. */
  readonly requests: Budget;
  /** Of answers that are made as a whole. */
  readonly answers: Budget;
  /** Of pieces of all others. */
  readonly pieces: Budget;
  /** Most bytes that were taken since the system got them back. */
  #peak = 0;

  /** @param threads How many answer. */
  constructor(threads: number) {
    const share = TOTAL / threads;
    this.requests = new Budget(share / 8);
    this.answers = new Budget(share * 3 / 8);
    this.pieces = new Budget(share / 4);
  }

  /**
   * Whether so many bytes were given back since it last was so; to be asked now and then.
   *
   * @param others Bytes that are not lent here.
   */
  hasGivenBack(bytes: number, others: number): boolean {
    const budgets = [this.requests, this.answers, this.pieces];
    const taken = budgets.reduce((sum, { lent }) => sum + lent, others);
    this.#peak = Math.max(this.#peak, taken);
    if (this.#peak - taken < bytes) return false;
    this.#peak = taken;
    return true;
  }

  /** Takes memory for a whole answer, or not. */
  takeAnswer(bytes: number): boolean {
    const { answers } = this;
    const left = bytes > LARGE ? answers.total / 4 : 0;
    return answers.free - bytes >= left && answers.take(bytes);
  }
}

/** What a connection has of a server's memory. */
export class ConnectionRoom implements AnswerRoom {
  readonly #memory: ServerMemory;
  #waiting: Waiting | undefined;
  #request = 0;
  #answer = 0;
  #whole: Uint8Array<ArrayBuffer> | undefined;
  #piece: Uint8Array<ArrayBuffer> | undefined;
  #pieceSize = 0;

  constructor(memory: ServerMemory) {
    this.#memory = memory;
  }

  take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (bytes <= OWN) return new Uint8Array(bytes);
    if (!this.#memory.takeAnswer(bytes)) return undefined;
    this.#answer += bytes;
    return this.#whole = new Uint8Array(bytes);
  }

  async wait(bytes: number): Promise<void> {
    const { answers } = this.#memory;
    const taken = Math.min(bytes, answers.total);
    await this.#wait(answers, taken);
    this.#answer += taken;
  }

  made(bytes: number): void {
    const { answers } = this.#memory;
    answers.add(bytes);
    answers.give(this.#answer);
    this.#answer = bytes;
  }

  piece(bytes: number): Uint8Array<ArrayBuffer> {
    if (this.#pieceSize < bytes) this.#growPiece(bytes);
    const end = CHUNK_START + Math.min(bytes, this.#pieceSize);
    return this.#piece!.subarray(CHUNK_START, end);
  }

  /**
   * A piece as a chunk (RFC 9112, 7.1), if it is one of {@linkcode ConnectionRoom.piece}: what stands around it is put
   * there.
   */
  asChunk(piece: Uint8Array): Uint8Array | undefined {
    const memory = this.#piece;
    if (piece.buffer !== memory?.buffer) return undefined;
    const line = `${piece.length.toString(16)}\r\n`;
    const start = piece.byteOffset - line.length;
    const end = piece.byteOffset + piece.length;
    for (let i = 0; i < line.length; i++) {
      memory[start + i] = line.charCodeAt(i);
    }
    memory[end] = 0x0d;
    memory[end + 1] = 0x0a;
    return memory.subarray(start, end + CHUNK_END);
  }

  /**
   * Takes memory for so much more of a request, when it is there.
   *
   * @throws {ServeError} If it is not there in time.
   */
  async takeRequest(bytes: number): Promise<void> {
    await this.#wait(this.#memory.requests, bytes);
    this.#request += bytes;
  }

  /** Gives back what the last request and its answer had, but so many bytes of requests. */
  release(request = 0): void {
    if (this.#request > request) {
      this.#memory.requests.give(this.#request - request);
      this.#request = request;
    }
    if (this.#answer > 0) {
      this.#memory.answers.give(this.#answer);
      this.#answer = 0;
    }
    if (this.#whole !== undefined) {
      freeMemory(this.#whole);
      this.#whole = undefined;
    }
    this.#dropPiece();
  }

  /** Ends the waiting. */
  end(): void {
    this.#waiting?.leave(new ServeError("too-slow", "The client has left"));
  }

  async #wait(budget: Budget, bytes: number): Promise<void> {
    if (budget.take(bytes)) return;
    const waiting = this.#waiting = budget.wait(bytes);
    const late = setTimeout(() => {
      waiting.leave(
        new ServeError(
          "too-many-requests",
          "Other requests have all memory that the server may take; ask again soon",
        ),
      );
    }, LONGEST_WAIT);
    try {
      await waiting.promise;
    } finally {
      clearTimeout(late);
    }
  }

  #growPiece(bytes: number): void {
    const { pieces } = this.#memory;
    const has = this.#pieceSize;
    const free = pieces.free + (has > OWN ? has : 0);
    const most = Math.min(PIECE, Math.max(free / NEXT_PIECES, OWN));
    const wanted = Math.max(OWN, 2 ** Math.ceil(Math.log2(bytes)));
    const size = Math.min(2 ** Math.floor(Math.log2(most)), wanted);
    if (size <= has) return;
    this.#dropPiece();
    if (size > OWN) pieces.add(size);
    this.#pieceSize = size;
    this.#piece = new Uint8Array(CHUNK_START + size + CHUNK_END);
  }

  #dropPiece(): void {
    if (this.#piece === undefined) return;
    if (this.#pieceSize > OWN) this.#memory.pieces.give(this.#pieceSize);
    freeMemory(this.#piece);
    this.#piece = undefined;
    this.#pieceSize = 0;
  }
}

/** Gives memory back to the system's library now, not when garbage is collected: an idle server collects none. */
export function freeMemory(bytes: Uint8Array<ArrayBuffer>): void {
  bytes.buffer.transfer(0);
}
