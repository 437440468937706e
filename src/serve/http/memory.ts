import { PIECE, type ResponseRoom } from "../response_room.ts";
import { ServeError } from "../serve_error.ts";

/** Memory of all threads of a server for stalled clients and incomplete requests, in bytes. */
const TOTAL = 128 << 20;
/** Bytes of each connection that are not budgeted, for its request and for its response. */
export const OWN = 16 << 10;
/** Whole responses of more bytes leave a quarter of the budget to smaller ones. */
const LARGE = 128 << 10;
/**
 * Number of pieces of the next one's size that must fit into the free budget. Later clients so get smaller pieces
 * instead of waiting.
 */
const NEXT_PIECES = 8;

/** Bytes in front of a piece, for its length in hexadecimal and a line end, and behind it. */
const CHUNK_START = 10;
const CHUNK_END = 2;
/** Timeout when waiting for memory, in milliseconds. */
const LONGEST_WAIT = 10_000;

/** Memory budget in bytes, first come, first served. */
export class Budget {
  readonly total: number;
  #free: number;
  readonly #waiting = new Set<{ readonly bytes: number; take(): void }>();

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /** Bytes available; negative if {@linkcode Budget.add} has exceeded the total. */
  get free(): number {
    return this.#free;
  }

  get lent(): number {
    return this.total - this.#free;
  }

  /** Takes bytes. Fails if there are too few or others are waiting. */
  take(bytes: number): boolean {
    if (bytes > this.#free || this.#waiting.size > 0) return false;
    this.#free -= bytes;
    return true;
  }

  /** Takes bytes unconditionally, because they are already in use. */
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

  /** Takes bytes as soon as they are available. */
  wait(bytes: number): WaitingResponse {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const next = { bytes, take: resolve };
    if (this.take(bytes)) resolve();
    else this.#waiting.add(next);
    const leave = (reason: Error) => {
      if (!this.#waiting.delete(next)) return;
      reject(reason);
      this.give(0); // the next waiter may need less
    };
    return { promise, leave };
  }
}

interface WaitingResponse {
  readonly promise: Promise<void>;
  /** Rejects the promise, if it is still pending. */
  leave(reason: Error): void;
}

/** One thread's share of a server's memory. Each purpose has its own budget, so that none blocks the others. */
export class ServerMemory {
  /** For heads and bodies of requests. */
  readonly requests: Budget;
  /** For whole responses. */
  readonly answers: Budget;
  /** For pieces of streamed responses. */
  readonly pieces: Budget;
  /** Peak use in bytes since freed memory was last returned to the system. */
  #peak = 0;

  constructor(threads: number) {
    const share = TOTAL / threads;
    this.requests = new Budget(share / 8);
    this.answers = new Budget(share * 3 / 8);
    this.pieces = new Budget(share / 4);
  }

  /** Whether so many bytes were freed since this was last true. `others` are bytes in use outside these budgets. */
  hasGivenBack(bytes: number, others: number): boolean {
    const budgets = [this.requests, this.answers, this.pieces];
    const taken = budgets.reduce((sum, { lent }) => sum + lent, others);
    this.#peak = Math.max(this.#peak, taken);
    if (this.#peak - taken < bytes) return false;
    this.#peak = taken;
    return true;
  }

  /** Takes memory for a whole response. Returns whether there was enough. */
  takeAnswer(bytes: number): boolean {
    const { answers } = this;
    const left = bytes > LARGE ? answers.total / 4 : 0;
    return answers.free - bytes >= left && answers.take(bytes);
  }
}

export class ConnectionRoom implements ResponseRoom {
  readonly #memory: ServerMemory;
  #waiting: WaitingResponse | undefined;
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

  /** Formats a piece of {@linkcode ConnectionRoom.piece} as a chunk (RFC 9112, 7.1) in place; else `undefined`. */
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

  /** Waits for more memory for a request. Throws `ServeError` if it is not available in time. */
  async takeRequest(bytes: number): Promise<void> {
    await this.#wait(this.#memory.requests, bytes);
    this.#request += bytes;
  }

  /** Returns the memory of the last request and its response, except so many bytes of the request. */
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

  end(): void {
    this.#waiting?.leave(
      new ServeError(
        "too-slow",
        "Cannot send the response: the client has disconnected",
      ),
    );
  }

  async #wait(budget: Budget, bytes: number): Promise<void> {
    if (budget.take(bytes)) return;
    const waiting = this.#waiting = budget.wait(bytes);
    const late = setTimeout(() => {
      waiting.leave(
        new ServeError(
          "too-many-requests",
          "Cannot answer now: other requests use all memory of the server. Try again soon",
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

/** Frees memory now instead of at garbage collection: an idle server collects no garbage. */
export function freeMemory(bytes: Uint8Array<ArrayBuffer>): void {
  bytes.buffer.transfer(0);
}
