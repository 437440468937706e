/** Bytes of `struct fuse_out_header`. */
export const REPLY_HEADER_SIZE = 16;

/**
 * The reply to one request: a header and body in a buffer that is used again and again, and
 * optionally a stretch of a source that follows them without passing through the buffer.
 */
export class Reply {
  /** Holds header and body. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same memory, for writing structs; offsets count from the header's start. */
  readonly view: DataView;
  /** Bytes of header and body, or 0 when there is no reply. */
  length = 0;
  /** Bytes of the payload that follow the body; 0 for none. */
  payloadLength = 0;
  /** Source the payload lies in. */
  payloadSource = -1;
  /** Where it starts there, in bytes. */
  payloadOffset = 0;

  /** @param capacity Bytes of the largest body. */
  constructor(capacity: number) {
    this.bytes = new Uint8Array(REPLY_HEADER_SIZE + capacity);
    this.view = new DataView(this.bytes.buffer);
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
  }

  /** There is to be no reply. */
  none(): void {
    this.length = 0;
    this.payloadLength = 0;
  }

  /** Completes the header: its length covers body and payload. */
  seal(): void {
    this.view.setUint32(0, this.length + this.payloadLength, true);
  }
}
