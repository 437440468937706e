/** Bytes that are taken from a connection at a time, at most. */
const PIECE = 1 << 18;
/** Memory that is kept for the next bodies. */
const MOST_SPARE = 64;

const spare: ArrayBuffer[] = [];

/**
 * Takes a body piece by piece into memory that is used again: as streams hand out memory of their own, that takes twice
 * as long.
 *
 * @param most Bytes that are expected at most: what comes behind them is left.
 * @param take Given each piece, which is right until it returns.
 * @returns How many bytes came: more than these where it was longer.
 */
export async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  most: number,
  take: (piece: Uint8Array<ArrayBuffer>) => void,
): Promise<number> {
  if (body === null) return 0;
  const reader = body.getReader({ mode: "byob" });
  let memory = spare.pop() ?? new ArrayBuffer(PIECE);
  let got = 0;
  try {
    while (got <= most) {
      // The end is waited for as well, so that the connection can be used again.
      const room = Math.max(1, Math.min(PIECE, most - got));
      const { value, done } = await reader.read(
        new Uint8Array(memory, 0, room),
      );
      if (value !== undefined) memory = value.buffer;
      if (done) break;
      got += value.length;
      if (got <= most) take(value);
    }
  } finally {
    reader.releaseLock();
    const isOurs = memory.byteLength === PIECE; // not where the stream has failed with it
    if (isOurs && spare.length < MOST_SPARE) spare.push(memory);
  }
  return got;
}
