/** From RFC 8878, 3.1.1 and 3.1.2. */
const FRAME = 0xfd2fb528;
const DESCRIPTOR_END = 5;
const SKIPPABLE_END = 8;
const SINGLE_SEGMENT = 0x20;
const HAS_CHECKSUM = 4;
const CHECKSUM = 4;
const DICTIONARY = [0, 1, 2, 4];
const CONTENT_SIZE = [0, 2, 4, 8];
const BLOCK_HEADER = 3;
const RLE = 1;

/** Finds the end of a zstd frame in its bytes as they come, without decoding it. */
export class ZstdFrameEnd {
  /** Whether the frame has ended. */
  isOver = false;
  /** Whether it is a skippable frame, which has no content. */
  isSkippable = false;
  readonly #header: number[] = [];
  #need = DESCRIPTOR_END;
  #skip = 0;
  #hasChecksum = false;
  #isInBlocks = false;
  #isLast = false;

  /** Takes the bytes that follow. Returns how many of them belong to the frame. */
  take(bytes: Uint8Array): number {
    let at = 0;
    while (!this.isOver) {
      const skipped = Math.min(this.#skip, bytes.length - at);
      this.#skip -= skipped;
      at += skipped;
      if (this.#skip > 0) break;
      if (this.#isLast) {
        this.isOver = true;
        break;
      }
      if (at === bytes.length) break;
      this.#header.push(bytes[at++]!);
      if (this.#header.length === this.#need) this.#parse();
    }
    return at;
  }

  #parse(): void {
    const header = Uint8Array.from(this.#header);
    const view = new DataView(header.buffer);
    if (this.#isInBlocks) {
      const block = view.getUint16(0, true) | header[2]! << 16;
      this.#isLast = (block & 1) !== 0;
      const isRle = (block >> 1 & 3) === RLE;
      this.#skip = (isRle ? 1 : block >> 3) +
        (this.#isLast && this.#hasChecksum ? CHECKSUM : 0);
      this.#header.length = 0;
    } else if (view.getUint32(0, true) === FRAME) {
      const descriptor = header[4]!;
      const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
      const size = CONTENT_SIZE[descriptor >> 6]!;
      this.#skip = DICTIONARY[descriptor & 3]! +
        (isSingle ? Math.max(1, size) : 1 + size);
      this.#hasChecksum = (descriptor & HAS_CHECKSUM) !== 0;
      this.#isInBlocks = true;
      this.#need = BLOCK_HEADER;
      this.#header.length = 0;
    } else if (header.length < SKIPPABLE_END) {
      this.isSkippable = true;
      this.#need = SKIPPABLE_END;
    } else {
      this.#skip = view.getUint32(4, true);
      this.#isLast = true;
    }
  }
}
