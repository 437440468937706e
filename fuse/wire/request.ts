import { viewOf } from "../../src/base/view_of.ts";
/** Bytes of `struct fuse_in_header`. */
const REQUEST_HEADER_SIZE = 40;
/** Bytes of a READDIR or READDIRPLUS: the header and `struct fuse_read_in`. */
export const LIST_REQUEST_SIZE = REQUEST_HEADER_SIZE + 40;
/** Offsets of the node id and of the process in `struct fuse_in_header`. */
const NODE_OFFSET = 16;
const PID_OFFSET = 32;
/** Offsets in `struct fuse_read_in`. */
const LIST_OFFSET = 8;
const LIST_SIZE = 16;

/** A request that violates the protocol; it is answered with EINVAL. */
export class MalformedRequest extends Error {
  override name = "MalformedRequest";
}

/** A request in the buffer it was read into. One object is reused, so that a request costs no allocation. */
export class Request {
  readonly bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  /** Start of the name last read by {@linkcode readName}, in {@linkcode bytes}. */
  nameStart = 0;
  nameEnd = 0;
  readonly #view: DataView;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** Loads the first `length` bytes of the buffer. Returns false without a header, which a reply needs. */
  load(length: number): boolean {
    this.length = length;
    return length >= REQUEST_HEADER_SIZE;
  }

  get statedLength(): number {
    return this.#view.getUint32(0, true);
  }

  get opcode(): number {
    return this.#view.getUint32(4, true);
  }

  /** Low half of the request id. */
  get uniqueLow(): number {
    return this.#view.getUint32(8, true);
  }

  /** High half of the request id. */
  get uniqueHigh(): number {
    return this.#view.getUint32(12, true);
  }

  /** Node of the request; for LOOKUP, the directory. */
  get node(): number {
    return this.#safe(NODE_OFFSET);
  }

  set node(node: number) {
    this.#put(NODE_OFFSET, node);
  }

  /** Process id of the caller, or 0 if this process cannot see it. */
  get pid(): number {
    return this.#view.getUint32(PID_OFFSET, true);
  }

  get bodySize(): number {
    return this.length - REQUEST_HEADER_SIZE;
  }

  /** Reads a 32-bit field at a byte offset in the body. */
  u32(offset: number): number {
    return this.#view.getUint32(REQUEST_HEADER_SIZE + offset, true);
  }

  /** Reads a 64-bit field at a byte offset in the body. Throws if it exceeds 2^53 - 1. */
  u64(offset: number): number {
    return this.#safe(REQUEST_HEADER_SIZE + offset);
  }

  /** For READDIR and READDIRPLUS: `fuse_read_in.offset`, the start of the page. */
  get listOffset(): number {
    return this.u64(LIST_OFFSET);
  }

  set listOffset(offset: number) {
    this.#put(REQUEST_HEADER_SIZE + LIST_OFFSET, offset);
  }

  /** For READDIR and READDIRPLUS: `fuse_read_in.size`, the maximum size of the page in bytes. */
  get listSize(): number {
    return this.u32(LIST_SIZE);
  }

  /**
   * Finds the NUL-terminated name at an offset in the body. Sets {@linkcode nameStart} and {@linkcode nameEnd}. Throws
   * if no NUL ends it.
   */
  readName(offset: number): void {
    const start = REQUEST_HEADER_SIZE + offset;
    let end = start;
    while (end < this.length && this.bytes[end] !== 0) end++;
    if (end >= this.length) throw new MalformedRequest("a name has no end");
    this.nameStart = start;
    this.nameEnd = end;
  }

  copyList(request: Request): void {
    for (let at = 0; at < LIST_REQUEST_SIZE; at++) {
      this.bytes[at] = request.bytes[at]!;
    }
    this.length = LIST_REQUEST_SIZE;
  }

  #put(offset: number, value: number): void {
    this.#view.setUint32(offset, value, true);
    this.#view.setUint32(offset + 4, value / 0x1_0000_0000, true);
  }

  #safe(offset: number): number {
    const high = this.#view.getUint32(offset + 4, true);
    if (high > 0x1fffff) {
      throw new MalformedRequest("a 64-bit field exceeds 2^53 - 1");
    }
    return high * 0x1_0000_0000 + this.#view.getUint32(offset, true);
  }
}
