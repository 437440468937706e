import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { Cursor, type Metadata } from "./metadata.ts";
import { sizeOfNumber, walkTree2 } from "./trees.ts";

/** Bytes of global heaps that are cached. */
const MOST_KEPT = 32 << 20;
/** Bytes of indirect blocks that are cached. */
const MOST_BLOCKS = 1 << 20;
/** Indirect blocks on the way to an object, at most. */
const MOST_STEPS = 64;

/** Objects of a fractal heap (III.G), by their ids. */
export class FractalHeap {
  readonly #metadata: Metadata;
  readonly #idLength: number;
  readonly #hugeTree: number;
  readonly #width: number;
  readonly #start: number;
  readonly #mostDirect: number;
  readonly #offsetSize: number;
  readonly #lengthSize: number;
  readonly #root: number;
  readonly #rootRows: number;
  readonly #blocks = new LruCache<Cursor>(MOST_BLOCKS);

  private constructor(metadata: Metadata, head: Cursor) {
    this.#metadata = metadata;
    head.at = 5;
    this.#idLength = head.u16();
    if (head.u16() > 0) {
      throw new CellFault("has a compressed heap", "unsupported");
    }
    const mostManaged = head.skip(1).u32();
    head.length();
    this.#hugeTree = head.offset();
    head.length();
    head.offset();
    for (let i = 0; i < 8; i++) head.length();
    this.#width = head.u16();
    this.#start = head.length();
    this.#mostDirect = head.length();
    this.#offsetSize = Math.ceil(head.u16() / 8);
    this.#root = head.skip(2).offset();
    this.#rootRows = head.u16();
    if (!(this.#width > 0 && this.#start > 0)) {
      throw new CellFault("has a heap of a wrong form");
    }
    this.#lengthSize = Math.min(
      Math.ceil(Math.log2(this.#mostDirect) / 8),
      sizeOfNumber(mostManaged),
    );
  }

  static *open(metadata: Metadata, address: number): Steps<FractalHeap> {
    const { offsetSize, lengthSize } = metadata;
    const length = 26 + 3 * offsetSize + 12 * lengthSize;
    return new FractalHeap(
      metadata,
      yield* metadata.sealed(address, length, "FRHP"),
    );
  }

  /** Reads the object of an id. */
  *read(id: Uint8Array): Steps<Cursor> {
    const cursor = new Cursor(id, this.#metadata);
    const first = cursor.u8();
    switch (first >> 4 & 3) {
      case 0: {
        const offset = cursor.uint(this.#offsetSize);
        return yield* this.#managed(offset, cursor.uint(this.#lengthSize));
      }
      case 1:
        return yield* this.#huge(cursor);
      case 2: {
        const isLong = this.#idLength > 17;
        const more = isLong ? cursor.u8() : 0;
        return cursor.cursor((first & 15) * (isLong ? 256 : 1) + more + 1);
      }
      default:
        throw new CellFault("has an object of an unknown kind");
    }
  }

  *#managed(offset: number, length: number): Steps<Cursor> {
    const metadata = this.#metadata;
    let [address, rows, within] = [this.#root, this.#rootRows, offset];
    for (let step = 0; rows > 0; step++) {
      const first = this.#start * this.#width;
      const row = within < first
        ? 0
        : Math.floor(Math.log2(within / first)) + 1;
      const size = this.#start * 2 ** Math.max(0, row - 1);
      const before = row === 0 ? 0 : first * 2 ** (row - 1);
      const column = Math.floor((within - before) / size);
      if (row >= rows || step > MOST_STEPS) {
        throw new CellFault("has an object outside its heap");
      }
      const start = 5 + metadata.offsetSize + this.#offsetSize;
      const length = start + rows * this.#width * metadata.offsetSize + 4;
      const block = this.#blocks.get(address) ??
        (yield* metadata.sealed(address, length, "FHIB"));
      this.#blocks.set(address, block, length);
      block.at = start + (row * this.#width + column) * metadata.offsetSize;
      address = block.offset();
      within -= before + column * size;
      rows = size > this.#mostDirect ? Math.log2(size / first) + 1 : 0;
    }
    return yield* metadata.part(
      address < 0 ? address : address + within,
      length,
    );
  }

  /** Reads an object that has no place in blocks. */
  *#huge(id: Cursor): Steps<Cursor> {
    const metadata = this.#metadata;
    const { offsetSize, lengthSize } = metadata;
    if (this.#idLength > offsetSize + lengthSize) {
      return yield* metadata.part(id.offset(), id.length());
    }
    const key = id.uint(Math.min(8, id.left));
    let place: [address: number, length: number] | undefined;
    yield* walkTree2(metadata, this.#hugeTree, (record) => {
      const [address, length] = [record.offset(), record.length()];
      if (record.length() === key) place = [address, length];
    });
    if (place === undefined) throw new CellFault("has a lost object");
    return yield* metadata.part(...place);
  }
}

/** Objects of a global heap by their index: each as its range. */
type Collection = ReadonlyMap<number, Uint8Array>;
/** Heaps of all files of this thread, by file and address. */
const KEPT = new LruCache<Collection, string>(MOST_KEPT);

/** Global heaps (III.E), which have the values of a variable length. */
export class GlobalHeaps {
  readonly #metadata: Metadata;

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  *load(address: number): Steps<Collection> {
    const key = `${this.#metadata.number} ${address}`;
    const known = KEPT.get(key);
    if (known !== undefined) return known;
    const metadata = this.#metadata;
    metadata.renew();
    const start = 8 + metadata.lengthSize;
    const head = yield* metadata.part(address, start);
    head.expect("GCOL");
    const part = yield* metadata.part(address, head.skip(3).length());
    part.at = start;
    const objects = new Map<number, Uint8Array>();
    while (part.left >= start) {
      const index = part.u16();
      const length = part.skip(6).length();
      if (index === 0) break; // the rest is free
      objects.set(index, part.take(length));
      part.skip(Math.min(part.left, -length & 7));
    }
    KEPT.set(key, objects, part.bytes.length);
    return objects;
  }
}
