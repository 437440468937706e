import type { ByteSource, WaitOptions } from "./byte_source.ts";

/** Bytes in memory. */
export class MemorySource implements ByteSource {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mtime: number;

  /** @param bytes The data; not copied. */
  constructor(bytes: Uint8Array, name = "memory", mtime = Date.now()) {
    this.bytes = bytes;
    this.name = name;
    this.mtime = mtime;
  }

  get size(): number {
    return this.bytes.byteLength;
  }

  readAtSync(into: Uint8Array, offset: number): number {
    const part = this.bytes.subarray(offset, offset + into.byteLength);
    into.set(part);
    return part.byteLength;
  }

  readCached(into: Uint8Array, offset: number): number {
    return this.readAtSync(into, offset);
  }

  // deno-lint-ignore require-await -- its errors must reach the caller as a rejection
  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    return this.readAtSync(into, offset);
  }

  close(): void {}
}
