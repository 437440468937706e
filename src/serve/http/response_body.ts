import { Buffer } from "node:buffer";

/** Maximum bytes of a body to copy behind its head, and of a chunk between its delimiters, to send them at once. */
const COPIED = 16 << 10;
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

type Stream = ReadableStream<Uint8Array<ArrayBuffer>>;

export type Body =
  | {
    readonly kind: "nothing";
    /** Body that is not sent. */
    readonly stream: Stream | null;
    /** Whether the head must have `content-length: 0`. */
    readonly saysLength: boolean;
  }
  | { readonly kind: "bytes"; readonly stream: Stream; readonly length: number }
  | { readonly kind: "chunks" | "to-the-end"; readonly stream: Stream };

export interface Wire {
  /** Sends all of the bytes. */
  send(bytes: Uint8Array): Promise<void>;
  /** Formats a piece as a chunk in place, if its buffer has room for the delimiters. */
  asChunk(piece: Uint8Array): Uint8Array | undefined;
}

/** Sends a response. Returns whether it was sent completely; otherwise nothing may follow. */
export async function sendBody(
  wire: Wire,
  head: Buffer,
  body: Body,
): Promise<boolean> {
  if (body.kind === "nothing") {
    await Promise.all([wire.send(head), body.stream?.cancel()]);
    return true;
  }
  const pieces = new BodyPieces(body.stream);
  let isWhole = false;
  try {
    if (body.kind === "bytes" && body.length <= COPIED) {
      const all = await together(head, pieces, body.length);
      if (all !== undefined) await wire.send(all);
      return isWhole = all !== undefined;
    }
    await wire.send(head);
    isWhole = body.kind === "chunks"
      ? await sendChunks(wire, pieces)
      : await sendBytes(wire, pieces, body);
    return isWhole;
  } finally {
    if (!isWhole) await pieces.cancel();
  }
}

class BodyPieces {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  /** Whether no error has occurred so far. */
  isWhole = true;

  constructor(stream: Stream) {
    this.#reader = stream.getReader();
  }

  /** Returns the next piece; `undefined` at the end or after an error, which the producer reports itself. */
  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      const { value } = await this.#reader.read();
      return value;
    } catch {
      this.isWhole = false;
      return undefined;
    }
  }

  async cancel(): Promise<void> {
    this.isWhole = false;
    try {
      await this.#reader.cancel();
    } catch {
      // It has failed already.
    }
  }
}

/** Joins a head and a body; `undefined` if the body does not have the given length. */
async function together(
  head: Buffer,
  pieces: BodyPieces,
  length: number,
): Promise<Buffer | undefined> {
  const all = Buffer.alloc(head.length + length);
  let end = head.copy(all);
  for (let piece; (piece = await pieces.next()) !== undefined;) {
    if (piece.length > all.length - end) return undefined;
    all.set(piece, end);
    end += piece.length;
  }
  return pieces.isWhole && end === all.length ? all : undefined;
}

async function sendBytes(
  wire: Wire,
  pieces: BodyPieces,
  body: Body,
): Promise<boolean> {
  let left = body.kind === "bytes" ? body.length : Infinity;
  for (let piece; (piece = await pieces.next()) !== undefined;) {
    if (piece.length > left) return false;
    left -= piece.length;
    await wire.send(piece);
  }
  return pieces.isWhole && (left === 0 || left === Infinity);
}

/** Sends chunks (RFC 9112, 7.1). Empty pieces are skipped because they would end the body. */
async function sendChunks(wire: Wire, pieces: BodyPieces): Promise<boolean> {
  for (let piece; (piece = await pieces.next()) !== undefined;) {
    if (piece.length === 0) continue;
    const chunk = wire.asChunk(piece);
    if (chunk !== undefined) {
      await wire.send(chunk);
      continue;
    }
    const start = Buffer.from(`${piece.length.toString(16)}\r\n`);
    if (piece.length <= COPIED) {
      await wire.send(Buffer.concat([start, piece, LINE_END]));
      continue;
    }
    for (const part of [start, piece, LINE_END]) await wire.send(part);
  }
  if (!pieces.isWhole) return false;
  await wire.send(LAST_CHUNK);
  return true;
}
