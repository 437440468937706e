import { npyHeader } from "../../../codecs/numpy/npy.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  ByteSource,
  WaitOptions,
} from "../../../io/storage/byte_source.ts";
import type { MadeSource } from "../../../io/storage/made_source.ts";
import type { ArrayBlocks } from "../read/array_blocks.ts";
import { bytesOf, type Entry } from "../read/catalog.ts";

/** A dataset as an `.npy` file, whose elements are decoded when they are read. */
export class ArraySource implements MadeSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly storedIn: string;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly #entry: Entry;
  readonly #blocks: ArrayBlocks;
  readonly #head: Uint8Array;

  constructor(archive: ByteSource, entry: Entry, blocks: ArrayBlocks) {
    this.name = `${archive.name}: '${entry.path}'`;
    this.storedIn = archive.name;
    this.mtime = archive.mtime;
    this.#entry = entry;
    this.#blocks = blocks;
    this.#head = headOf(entry);
    this.size = sizeOf(entry);
    // Its presence shows callers whether the data is remote.
    if (archive.readAtSync !== undefined) {
      this.readAtSync = (into, offset) => runSync(this.#read(into, offset));
    }
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    { signal }: WaitOptions = {},
  ): Promise<number> {
    return await runAsync(this.#read(into, offset), signal);
  }

  close(): void {}

  *#read(into: Uint8Array, offset: number): Steps<number> {
    const wanted = into.subarray(0, Math.max(0, this.size - offset));
    const head = this.#head.subarray(offset, offset + wanted.length);
    wanted.set(head);
    const rest = wanted.subarray(head.length);
    const start = Math.max(0, offset - this.#head.length);
    yield* this.#blocks.read(this.#entry, start, rest);
    return wanted.length;
  }
}

/** Returns the bytes of an array's file. */
export function sizeOf(entry: Entry): number {
  return headOf(entry).length + bytesOf(entry);
}

function headOf({ dtype, space, inner = [] }: Entry): Uint8Array {
  return npyHeader(dtype!, [...space, ...inner]);
}
