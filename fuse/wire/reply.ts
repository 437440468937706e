/** Bytes of `struct fuse_out_header`. */
export const REPLY_HEADER_SIZE = 16;

type ReplyMemory = Uint8Array<ArrayBufferLike>;

/**
 * Reply to one request: header and body in a reused buffer, optionally followed by a range of a source that does
 * not pass through the buffer.
 */
export class Reply {
  /** Header and body. */
  readonly bytes: ReplyMemory;
  /** View of `bytes` for writing structs; offsets count from the start of the header. */
  readonly view: DataView;
  /** View of `bytes` in 32-bit words, for the most frequent structs. */
  readonly words: Uint32Array;
  /** Bytes of header and body, or 0 if there is no reply. */
  length = 0;
  /** Bytes of the payload after the body; 0 for none. */
  payloadLength = 0;
  /** Index of the payload's source. */
  payloadSource = -1;
  /** Offset of the payload in its source, in bytes. */
  payloadOffset = 0;
  /** Offset of the next listing page; 0 if there is none. */
  resume = 0;
  /** Address of {@linkcode bytes} in this process, once computed; 0 before. */
  address = 0;

  /** @param bytes Room for the header and the largest body; must start and end at a multiple of 4. */
  constructor(bytes: ReplyMemory) {
    const { buffer, byteOffset, length } = bytes;
    this.bytes = bytes;
    this.view = new DataView(buffer, byteOffset, length);
    this.words = new Uint32Array(buffer, byteOffset, length / 4);
  }

  /** Size of the largest body in bytes. */
  get capacity(): number {
    return this.bytes.length - REPLY_HEADER_SIZE;
  }

  /** Error number, or 0 for success. */
  get errno(): number {
    return 0 - this.view.getInt32(4, true); // never -0
  }

  /** Starts a successful reply without a body to the request with that id. */
  begin(uniqueLow: number, uniqueHigh: number): void {
    this.view.setInt32(4, 0, true);
    this.view.setUint32(8, uniqueLow, true);
    this.view.setUint32(12, uniqueHigh, true);
    this.length = REPLY_HEADER_SIZE;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /** Addresses a sealed reply without payload, which another thread may have written, to a request id. */
  reopen(uniqueLow: number, uniqueHigh: number): void {
    this.view.setUint32(8, uniqueLow, true);
    this.view.setUint32(12, uniqueHigh, true);
    this.length = this.view.getUint32(0, true);
    this.payloadLength = 0;
  }

  body(size: number): void {
    this.length = REPLY_HEADER_SIZE + size;
  }

  /** Appends bytes of a source as payload. */
  payload(source: number, offset: number, length: number): void {
    this.payloadSource = source;
    this.payloadOffset = offset;
    this.payloadLength = length;
  }

  /** Turns the reply into an error, discarding its content. */
  fail(errno: number): void {
    this.view.setInt32(4, -errno, true);
    this.length = REPLY_HEADER_SIZE;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /** Suppresses the reply. */
  none(): void {
    this.length = 0;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /** Completes the header with the total length of body and payload. */
  seal(): void {
    this.view.setUint32(0, this.length + this.payloadLength, true);
  }
}
