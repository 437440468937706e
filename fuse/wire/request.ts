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

/** A request that breaks the protocol; it is answered with EINVAL. */
export class MalformedRequest extends Error {
  override name = "MalformedRequest";
}

/**
 * A request in the buffer it was read into. One object is loaded again and again, so that a request
 * costs no allocation.
 */
export class Request {
  /** The buffer that requests are read into. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the request in the buffer. */
  length = 0;
  /** Where the name last read by {@linkcode readName} starts in {@linkcode bytes}. */
  nameStart = 0;
  /** Where it ends. */
  nameEnd = 0;
  readonly #view: DataView;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /**
   * Takes the first `length` bytes of the buffer as the request.
   *
   * @returns Whether they hold a header, without which no reply can be addressed.
   */
  load(length: number): boolean {
    this.length = length;
    return length >= REQUEST_HEADER_SIZE;
  }

  /** Length that the header states. */
  get statedLength(): number {
    return this.#view.getUint32(0, true);
  }

  get opcode(): number {
    return this.#view.getUint32(4, true);
  }

  /** Low half of the id that the reply repeats. */
  get uniqueLow(): number {
    return this.#view.getUint32(8, true);
  }

  /** High half of the id that the reply repeats. */
  get uniqueHigh(): number {
    return this.#view.getUint32(12, true);
  }

  /** The node the request is about; of LOOKUP, the directory. */
  get node(): number {
    return this.#safe(NODE_OFFSET);
  }

  /** Makes it a request about another node. */
  set node(node: number) {
    this.#put(NODE_OFFSET, node);
  }

  /** Who asks, or 0 where this process does not see that one. */
  get pid(): number {
    return this.#view.getUint32(PID_OFFSET, true);
  }

  /** Bytes after the header. */
  get bodySize(): number {
    return this.length - REQUEST_HEADER_SIZE;
  }

  /** A 32-bit field at a byte offset in the body. */
  u32(offset: number): number {
    return this.#view.getUint32(REQUEST_HEADER_SIZE + offset, true);
  }

  /**
   * A 64-bit field at a byte offset in the body.
   *
   * @throws {MalformedRequest} If it exceeds what a number holds exactly.
   */
  u64(offset: number): number {
    return this.#safe(REQUEST_HEADER_SIZE + offset);
  }

  /** Of READDIR and READDIRPLUS: `fuse_read_in.offset`, where the page starts. */
  get listOffset(): number {
    return this.u64(LIST_OFFSET);
  }

  /** Makes it the request for another page. */
  set listOffset(offset: number) {
    this.#put(REQUEST_HEADER_SIZE + LIST_OFFSET, offset);
  }

  /** Of READDIR and READDIRPLUS: `fuse_read_in.size`, bytes of the page at most. */
  get listSize(): number {
    return this.u32(LIST_SIZE);
  }

  /**
   * Finds the NUL-terminated name at an offset in the body, as {@linkcode nameStart} and
   * {@linkcode nameEnd}.
   *
   * @throws {MalformedRequest} If no NUL ends it.
   */
  readName(offset: number): void {
    const start = REQUEST_HEADER_SIZE + offset;
    let end = start;
    while (end < this.length && this.bytes[end] !== 0) end++;
    if (end >= this.length) throw new MalformedRequest("a name has no end");
    this.nameStart = start;
    this.nameEnd = end;
  }

  /** Becomes the same READDIR or READDIRPLUS as another one. */
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
