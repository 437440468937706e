/**
 * Bytes of memory that a body is read into, piece by piece: as large as what a fast server's bodies usually come in, so
 * that little of it is left over where it is kept as it is.
 */
const PIECE = 1 << 17;
/** Memory that is kept for the next bodies. */
const MOST_SPARE = 256;

/** What a stream answers at its end. */
const ENDED = { value: undefined, done: true } as const;

/** What was used last is used next: it is still in the processor's cache. */
const spare: ArrayBuffer[] = [];

/** Who takes a body's pieces, one after the other. */
export interface PieceTaker {
  /** Bytes that stay free in front of the next piece; 0 unless given. */
  readonly front?: number;
  /**
   * Takes the next piece.
   *
   * @returns Whether its memory is the taker's from now on; otherwise it is used again.
   */
  take(piece: Uint8Array<ArrayBuffer>): boolean;
}

/** Has memory used again that nobody looks at any more. */
export function giveBack(memory: ArrayBuffer): void {
  // Not what came from elsewhere, or has gone with a stream that failed.
  if (memory.byteLength === PIECE && spare.length < MOST_SPARE) {
    spare.push(memory);
  }
}

/**
 * Takes a body piece by piece into memory that is used again: as streams hand out memory of their own, that takes twice
 * as long.
 *
 * @param most Bytes that are expected at most: what comes behind them is left.
 * @returns How many bytes came: more than these where it was longer.
 */
export async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  most: number,
  taker: PieceTaker,
): Promise<number> {
  if (body === null) return 0;
  const reader = body.getReader({ mode: "byob" });
  let memory = newMemory();
  let got = 0;
  let hasEnded = false;
  try {
    while (got <= most && !hasEnded) {
      const { front = 0 } = taker;
      // The end is waited for as well, so that the connection can be used again.
      const room = Math.max(1, Math.min(PIECE - front, most - got));
      const reading = reader.read(new Uint8Array(memory, front, room));
      // All that is expected has come: that its end fails changes nothing about it.
      const { value, done } = got < most
        ? await reading
        : await reading.catch(() => ENDED);
      if (value !== undefined) memory = value.buffer;
      hasEnded = done;
      if (done) continue;
      got += value.length;
      if (got <= most && taker.take(value)) memory = newMemory();
    }
  } finally {
    // So that the rest can be cancelled; of what has ended it would take as long as much of the reading.
    if (!hasEnded) reader.releaseLock();
    giveBack(memory);
  }
  return got;
}

function newMemory(): ArrayBuffer {
  return spare.pop() ?? new ArrayBuffer(PIECE);
}
