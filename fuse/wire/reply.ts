/** Bytes of `struct fuse_out_header`. */
export const REPLY_HEADER_SIZE = 16;

/** Memory of a {@linkcode Reply}, by itself or shared by threads. */
type ReplyMemory = Uint8Array<ArrayBufferLike>;

/**
 * The reply to one request: a header and body in a buffer that is used again and again, and
 * optionally a stretch of a source that follows them without passing through the buffer.
 */
export class Reply {
  /** Holds header and body. */
  readonly bytes: ReplyMemory;
  /** The same memory, for writing structs; offsets count from the header's start. */
  readonly view: DataView;
  /** The same memory once more, for what is written most often. */
  readonly words: Uint32Array;
  /** Bytes of header and body, or 0 when there is no reply. */
  length = 0;
  /** Bytes of the payload that follow the body; 0 for none. */
  payloadLength = 0;
  /** Source the payload lies in. */
  payloadSource = -1;
  /** Where it starts there, in bytes. */
  payloadOffset = 0;
  /** Of a page of a listing: the offset at which the next one starts; 0 where nothing follows. */
  resume = 0;
  /** Where {@linkcode bytes} are in this process, once somebody had to know it. */
  address = 0;

  /** @param bytes Room for the header and the largest body; starts and ends at a multiple of 4. */
  constructor(bytes: ReplyMemory) {
    const { buffer, byteOffset, length } = bytes;
    this.bytes = bytes;
    this.view = new DataView(buffer, byteOffset, length);
    this.words = new Uint32Array(buffer, byteOffset, length / 4);
  }

  /** Bytes of the largest body. */
  get capacity(): number {
    return this.bytes.length - REPLY_HEADER_SIZE;
  }

  /** The error number given, 0 for success. */
  get errno(): number {
    return 0 - this.view.getInt32(4, true); // never -0
  }

  /** Starts a successful reply without body to the request of that id. */
  begin(uniqueLow: number, uniqueHigh: number): void {
    this.view.setInt32(4, 0, true);
    this.view.setUint32(8, uniqueLow, true);
    this.view.setUint32(12, uniqueHigh, true);
    this.length = REPLY_HEADER_SIZE;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /**
   * Addresses a sealed reply without payload, which another thread may have written, to the request
   * of that id.
   */
  reopen(uniqueLow: number, uniqueHigh: number): void {
    this.view.setUint32(8, uniqueLow, true);
    this.view.setUint32(12, uniqueHigh, true);
    this.length = this.view.getUint32(0, true);
    this.payloadLength = 0;
  }

  /** Sets the size of the body. */
  body(size: number): void {
    this.length = REPLY_HEADER_SIZE + size;
  }

  /** Appends bytes of a source as payload. */
  payload(source: number, offset: number, length: number): void {
    this.payloadSource = source;
    this.payloadOffset = offset;
    this.payloadLength = length;
  }

  /** Turns the reply into an error, whatever it held. */
  fail(errno: number): void {
    this.view.setInt32(4, -errno, true);
    this.length = REPLY_HEADER_SIZE;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /** There is to be no reply. */
  none(): void {
    this.length = 0;
    this.payloadLength = 0;
    this.resume = 0;
  }

  /** Completes the header: its length covers body and payload. */
  seal(): void {
    this.view.setUint32(0, this.length + this.payloadLength, true);
  }
}
