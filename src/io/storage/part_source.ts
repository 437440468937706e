import type { ByteSource, ReadOptions } from "./byte_source.ts";
import type { MadeSource } from "./made_source.ts";

/** A range of another source, such as a file of a container. */
export class PartSource implements MadeSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly origin: ByteSource;
  /** Offset in the other source. */
  readonly start: number;
  readonly #source: () => ByteSource;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly readCached?: (into: Uint8Array, offset: number) => number;
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;

  /** @param source Returns the source that it is a part of, which others close. */
  constructor(
    source: () => ByteSource,
    { name, start, size, mtime, origin }: Pick<
      PartSource,
      "mtime" | "name" | "origin" | "size" | "start"
    >,
  ) {
    this.name = name;
    this.size = size;
    this.mtime = mtime;
    this.origin = origin;
    this.#source = source;
    this.start = start;
    // The presence of these methods says what callers can expect of the data.
    const { readAtSync, readCached, prefetch, invalidate } = source();
    if (readAtSync) {
      this.readAtSync = (into, offset) =>
        source().readAtSync!(this.#part(into, offset), start + offset);
    }
    if (readCached) {
      this.readCached = (into, offset) =>
        source().readCached!(this.#part(into, offset), start + offset);
    }
    if (prefetch) {
      this.prefetch = (offset, length) => {
        const most = Math.max(0, size - offset);
        return source().prefetch!(start + offset, Math.min(length, most));
      };
    }
    if (invalidate) {
      this.invalidate = (offset, length) =>
        source().invalidate!(start + offset, length);
    }
  }

  get storedIn(): string {
    return this.origin.name;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: ReadOptions = {},
  ): Promise<number> {
    const part = this.#part(into, offset);
    return await this.#source().readAt(part, this.start + offset, options);
  }

  close(): void {} // the other source stays open

  #part(into: Uint8Array, offset: number): Uint8Array {
    return into.subarray(0, Math.max(0, this.size - offset));
  }
}
