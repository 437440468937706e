import { newSharedMemory } from "../libc/new_memory.ts";
import { type Checkpoint, STREAM_START } from "./member_reader.ts";

/**
 * Where parts of a compressed stream begin, each of which can be decoded by itself; in memory that threads share. All
 * columns have an entry for each part, and `starts` and `windowStarts` one more.
 */
export interface StreamIndex {
  /** Decoded size in bytes. */
  readonly size: number;
  /** Decoded bytes before each part. */
  readonly starts: Float64Array;
  /** Encoded bytes before each part, and before the end of the last. */
  readonly packed: Float64Array;
  /** Bits of the last of these bytes that belong to the part. */
  readonly spareBits: Uint8Array;
  /** CRC-32 of each part; 0 if the index is declared. */
  readonly sums: Uint32Array;
  /** Deflated windows, one after the other. */
  readonly windows: Uint8Array;
  readonly windowStarts: Float64Array;
  /** Bytes behind the stream that do not belong to it. */
  readonly junk: number;
  /** Whether it comes from a table in the file, and no part was decoded for it. */
  readonly isDeclared: boolean;
}

/** What is needed of an index to decode parts, also while it grows. */
export type PartTable =
  & Readonly<
    Record<"starts" | "packed" | "spareBits" | "sums", ArrayLike<number>>
  >
  & Pick<StreamIndex, "isDeclared" | "size">
  & ({ readonly windows: readonly Uint8Array[] } | StreamIndex);

/** Columns of an index while it grows. The part that began last is not among them. */
export class PartColumns {
  /** Decoded bytes so far. */
  size = 0;
  readonly isDeclared = false;
  readonly starts: number[] = [0];
  readonly packed: number[] = [0];
  readonly spareBits: number[] = [];
  readonly sums: number[] = [];
  /** Deflated window of each part. */
  readonly windows: Uint8Array[] = [];
  #from = STREAM_START;

  /** Number of parts that have ended. */
  get count(): number {
    return this.sums.length;
  }

  /** Decoded bytes before the part that began last. */
  get start(): number {
    return this.starts[this.count]!;
  }

  /** Decoded bytes of the part that began last. */
  get length(): number {
    return this.size - this.start;
  }

  /** Where the part that began last begins. */
  get from(): Checkpoint {
    return this.#from;
  }

  /** Ends a part, unless it is empty: what follows begins at the checkpoint. */
  end(next: Checkpoint, sum = 0): void {
    const { count } = this;
    if (this.length > 0) {
      this.spareBits.push(this.#from.spareBits);
      this.windows.push(deflated(this.#from.window));
      this.sums.push(sum);
      this.starts.push(this.size);
      this.packed.push(next.packed);
    } else this.packed[count] = next.packed;
    this.#from = next;
  }

  finish(packed: number, junk: number, isDeclared: boolean): StreamIndex {
    this.end({ ...STREAM_START, packed });
    const windowStarts = [0];
    for (const { length } of this.windows) {
      windowStarts.push(windowStarts.at(-1)! + length);
    }
    const windows = new Uint8Array(newSharedMemory(windowStarts.at(-1)!));
    for (const [i, window] of this.windows.entries()) {
      windows.set(window, windowStarts[i]!);
    }
    return {
      size: this.size,
      starts: shared(this.starts),
      packed: shared(this.packed),
      spareBits: new Uint8Array(sharedCopy(Uint8Array.from(this.spareBits))),
      sums: new Uint32Array(sharedCopy(Uint32Array.from(this.sums))),
      windows,
      windowStarts: shared(windowStarts),
      junk,
      isDeclared,
    };
  }
}

function shared(numbers: readonly number[]): Float64Array {
  return new Float64Array(sharedCopy(Float64Array.from(numbers)));
}

function sharedCopy(
  column: Uint8Array | Uint32Array | Float64Array,
): SharedArrayBuffer {
  const memory = newSharedMemory(column.byteLength);
  const { buffer, byteOffset, byteLength } = column;
  new Uint8Array(memory).set(new Uint8Array(buffer, byteOffset, byteLength));
  return memory;
}

function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}

function deflated(window: Uint8Array): Uint8Array {
  return window.length === 0
    ? window
    : zlib().deflateRawSync(window, { level: 1 });
}
