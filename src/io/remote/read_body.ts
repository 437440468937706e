/**
 * Size of the buffers that bodies are read into: as large as the pieces of a fast server's bodies usually are, so that
 * little memory is wasted if pieces are held.
 */
const PIECE = 1 << 17;
const MOST_SPARE = 256;

const ENDED = { value: undefined, done: true } as const;

/** A stack: the buffer used last is still in the CPU cache. */
const spare: ArrayBuffer[] = [];

export interface PieceTaker {
  /** Bytes to leave free in front of the next piece. Defaults to 0. */
  readonly front?: number;
  /** Takes the next piece. Returns whether the consumer keeps its memory; otherwise it is reused. */
  take(piece: Uint8Array<ArrayBuffer>): boolean;
}

/** Returns memory for reuse. Nobody may use it any more. */
export function giveBack(memory: ArrayBuffer): void {
  // Not memory from elsewhere, or detached by a failed stream.
  if (memory.byteLength === PIECE && spare.length < MOST_SPARE) {
    spare.push(memory);
  }
}

/**
 * Reads a body in pieces into reused memory, which is twice as fast as memory allocated by the stream. Does not read
 * what follows `most` bytes. Returns the number of bytes received; more than `most` if the body was longer.
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
      // Reads to the end, so that the connection can be reused.
      const room = Math.max(1, Math.min(PIECE - front, most - got));
      const reading = reader.read(new Uint8Array(memory, front, room));
      // All expected bytes have arrived, so a failure at the end does not matter.
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
    // Allows cancelling the rest. If the body has ended, releasing would take as long as much of the reading.
    if (!hasEnded) reader.releaseLock();
    giveBack(memory);
  }
  return got;
}

function newMemory(): ArrayBuffer {
  return spare.pop() ?? new ArrayBuffer(PIECE);
}
