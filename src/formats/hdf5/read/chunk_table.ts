import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { product } from "../values/types.ts";
import type { Dataset, Layout } from "./dataset.ts";
import { type Cursor, type Metadata, NOWHERE } from "./metadata.ts";
import { walkTree, walkTree2 } from "./trees.ts";

/** Type of the B-tree of chunks (III.A.1). */
const CHUNKS = 1;

export type Chunks = Extract<Layout, { is: "chunks" }>;

/** Chunks of a dataset, at most. */
const MOST_CHUNKS = 1 << 23;

/** A chunk as it is stored. */
export interface Chunk {
  readonly address: number;
  readonly length: number;
  /** Bit per filter that it skips. */
  readonly mask: number;
}

/** Numbers of a chunk in a table: its number, address, length and mask. */
const FIELDS = 4;

/** Chunks of a dataset, by their number in the grid of its shape, in C order. */
export class ChunkTable {
  /** Of all chunks that are stored, in the order of their numbers. */
  readonly #fields: GrowingNumbers;
  readonly #order: Uint32Array;

  private constructor(fields: GrowingNumbers) {
    this.#fields = fields;
    const count = fields.length / FIELDS;
    this.#order = Uint32Array.from({ length: count }, (_, i) => i * FIELDS);
    const isSorted = this.#order.every((at) =>
      at === 0 || fields.at(at - FIELDS) < fields.at(at)
    );
    if (!isSorted) this.#order.sort((a, b) => fields.at(a) - fields.at(b));
  }

  /** Reads the index of a dataset's chunks. */
  static *read(metadata: Metadata, dataset: Dataset): Steps<ChunkTable> {
    const found = new FoundChunks(metadata, dataset);
    yield* found.read();
    return new ChunkTable(found.fields);
  }

  /** Bytes in memory. */
  get byteLength(): number {
    return 4 * this.#order.length + 8 * this.#fields.length;
  }

  /** Returns a chunk; `undefined` if it is not stored. */
  at(number: number): Chunk | undefined {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = low + high >>> 1;
      if (this.#fields.at(this.#order[middle]!) < number) low = middle + 1;
      else high = middle;
    }
    const at = this.#order[low];
    if (at === undefined || this.#fields.at(at) !== number) return undefined;
    const [address, length, mask] = [1, 2, 3].map((i) =>
      this.#fields.at(at + i)
    ) as [number, number, number];
    return { address, length, mask };
  }
}

/** Number of chunks in each dimension. */
export function gridOf(
  shape: readonly number[],
  chunk: readonly number[],
): number[] {
  return shape.map((length, i) => Math.ceil(length / chunk[i]!));
}

/** Chunks in the order in which an index has them. */
class FoundChunks {
  /** Numbers of the chunks, as in {@linkcode ChunkTable}. */
  readonly fields = new GrowingNumbers();
  readonly #metadata: Metadata;
  readonly #layout: Chunks;
  readonly #rank: number;
  readonly #bytes: number;
  readonly #grid: readonly number[];
  /** Dimensions in the order of an index by numbers, and the number of chunks in each. */
  readonly #order: readonly number[];
  readonly #most: readonly number[];

  constructor(metadata: Metadata, { layout, shape, most, type }: Dataset) {
    this.#metadata = metadata;
    this.#layout = layout as Chunks;
    const { shape: chunk, index } = this.#layout;
    this.#rank = chunk.length;
    this.#bytes = product(chunk) * type.size;
    this.#grid = gridOf(shape!, chunk);
    const order = [...chunk.keys()];
    if (index.is === "extensible") {
      order.sort((a, b) => +(most[b] === Infinity) - +(most[a] === Infinity));
    }
    this.#order = order;
    this.#most = gridOf(most, chunk);
  }

  *read(): Steps<void> {
    const { address, index, shape } = this.#layout;
    const metadata = this.#metadata;
    const coordinates = (cursor: Cursor, unit: readonly number[]) =>
      shape.map((_, i) => cursor.uint(8) / unit[i]!);
    switch (index.is) {
      case "single":
        this.#add([0], address, index.length, index.mask);
        return;
      case "implicit":
        return this.#implicit();
      case "fixed":
        return yield* this.#fixed();
      case "extensible":
        return yield* this.#extensible();
      case "tree": {
        const keySize = 16 + 8 * this.#rank;
        return yield* walkTree(
          metadata,
          address,
          CHUNKS,
          keySize,
          (key, child) => {
            const [length, mask] = [key.u32(), key.u32()];
            this.#add(coordinates(key, shape), child, length, mask);
          },
        );
      }
      case "tree2": {
        const ones = shape.map(() => 1);
        return yield* walkTree2(metadata, address, (record) => {
          const child = record.offset();
          const rest = record.left - 8 * this.#rank;
          const length = rest > 0 ? record.uint(rest - 4) : undefined;
          const mask = rest > 0 ? record.u32() : 0;
          this.#add(coordinates(record, ones), child, length, mask);
        });
      }
    }
  }

  #add(
    coordinates: readonly number[],
    address: number,
    length = this.#bytes,
    mask = 0,
  ): void {
    if (address === NOWHERE) return;
    let number = 0;
    for (let i = 0; i < coordinates.length; i++) {
      if (!(coordinates[i]! < this.#grid[i]!)) return; // the dataset has shrunk
      number = number * this.#grid[i]! + coordinates[i]!;
    }
    for (const field of [number, address, length, mask]) {
      this.fields.push(field);
    }
    if (this.fields.length > FIELDS * MOST_CHUNKS) throw tooMany();
  }

  /** Adds a chunk by its number in an index over the largest shape. */
  #addAt(
    index: number,
    address: number,
    length?: number,
    mask?: number,
  ): void {
    const coordinates: number[] = [];
    let rest = index;
    for (let i = this.#order.length - 1; i >= 0; i--) {
      const axis = this.#order[i]!;
      const count = i === 0 ? Infinity : this.#most[axis]!;
      coordinates[axis] = count === Infinity ? rest : rest % count;
      rest = Math.floor(rest / count);
    }
    this.#add(coordinates, address, length, mask);
  }

  #implicit(): void {
    const count = product(this.#most);
    const { address } = this.#layout;
    if (count > MOST_CHUNKS) throw tooMany();
    if (!(address + count * this.#bytes <= this.#metadata.size)) {
      throw new CellFault("has chunks outside of the file");
    }
    for (let i = 0; i < count; i++) this.#addAt(i, address + i * this.#bytes);
  }

  #element(cursor: Cursor, size: number, index: number): void {
    const address = cursor.offset();
    const rest = size - this.#metadata.offsetSize;
    if (rest === 0) this.#addAt(index, address);
    else this.#addAt(index, address, cursor.uint(rest - 4), cursor.u32());
  }

  /** Adds the elements of a block, or of its pages (III.F). All of them end with a checksum. */
  *#block(block: Block): Steps<void> {
    const { signature, address, prefix, count, page, size, index } = block;
    const metadata = this.#metadata;
    const pages = count <= page ? 1 : Math.ceil(count / page);
    const own = pages > 1 && block.marks === undefined
      ? Math.ceil(pages / 8)
      : 0;
    const whole = pages > 1 ? own : count * size;
    const head = yield* metadata.sealed(address, prefix + whole + 4, signature);
    head.at = prefix;
    const marks = block.marks ?? head.bytes.subarray(prefix);
    for (let p = 0; p < pages; p++) {
      const mark = (block.firstMark ?? 0) + p;
      if (pages > 1 && (marks[mark >> 3]! & 0x80 >> (mark & 7)) === 0) continue;
      const here = Math.min(page, count - p * page);
      const start = address + prefix + own + 4 + p * (page * size + 4);
      const part = pages === 1
        ? head
        : yield* metadata.sealed(start, here * size + 4);
      for (let i = 0; i < here; i++) {
        this.#element(part, size, index + p * page + i);
      }
    }
  }

  *#fixed(): Steps<void> {
    const metadata = this.#metadata;
    const { offsetSize, lengthSize } = metadata;
    const whole = 12 + offsetSize + lengthSize;
    const head = yield* metadata.sealed(this.#layout.address, whole, "FAHD");
    const size = head.skip(1).u8();
    const page = 2 ** head.u8();
    const count = head.length();
    const address = head.offset();
    if (address === NOWHERE) return;
    const prefix = 6 + offsetSize;
    const signature = "FADB";
    const index = 0;
    yield* this.#block({
      signature,
      address,
      prefix,
      count,
      page,
      size,
      index,
    });
  }

  *#extensible(): Steps<void> {
    const metadata = this.#metadata;
    const { offsetSize, lengthSize } = metadata;
    const whole = 16 + 6 * lengthSize + offsetSize;
    const head = yield* metadata.sealed(this.#layout.address, whole, "EAHD");
    const size = head.skip(1).u8();
    const mostBits = head.u8();
    const inIndex = head.u8();
    const least = head.u8();
    const leastPointers = head.u8();
    const page = 2 ** head.u8();
    const index = head.skip(6 * lengthSize).offset();
    if (index === NOWHERE) return;
    const direct = 2 * Math.log2(leastPointers);
    const supers = 1 + mostBits - Math.log2(least);
    const isSound = Number.isInteger(direct) && Number.isInteger(supers) &&
      direct <= supers && mostBits <= 64 && size >= offsetSize;
    if (!isSound) throw new CellFault("has an index of chunks of a wrong form");
    const start = 6 + offsetSize;
    const prefix = start + Math.ceil(mostBits / 8);
    const pointers = 2 * (leastPointers - 1) + supers - direct;
    const rootSize = start + inIndex * size + pointers * offsetSize + 4;
    const root = yield* metadata.sealed(index, rootSize, "EAIB");
    root.at = start;
    for (let i = 0; i < inIndex; i++) this.#element(root, size, i);
    let past = inIndex;
    for (let level = 0; level < supers; level++) {
      const blocks = 2 ** Math.floor(level / 2);
      const count = 2 ** Math.ceil(level / 2) * least;
      const first = past;
      past += blocks * count;
      const pages = count > page ? count / page : 0;
      // The bits of all pages follow each other, in more bytes than they need.
      const markBytes = blocks * Math.ceil(pages / 8);
      let list = root;
      if (level >= direct) {
        const address = root.offset();
        if (address === NOWHERE) continue;
        const length = prefix + markBytes + blocks * offsetSize + 4;
        list = yield* metadata.sealed(address, length, "EASB");
        list.at = prefix;
      }
      const marks = level >= direct ? list.take(markBytes) : undefined;
      for (let i = 0; i < blocks; i++) {
        const address = list.offset();
        if (address === NOWHERE) continue;
        yield* this.#block({
          ...{ signature: "EADB", address, prefix, count, page, size },
          ...{ index: first + i * count, marks, firstMark: i * pages },
        });
      }
    }
  }
}

/** Elements of an array of chunks that follow each other. */
interface Block {
  readonly signature: string;
  readonly address: number;
  /** Bytes before what it has. */
  readonly prefix: number;
  /** Number of its elements, and of those of a page. */
  readonly count: number;
  readonly page: number;
  /** Bytes of an element, and its index. */
  readonly size: number;
  readonly index: number;
  /** Bits of the pages that are there, and the first of this block; by default, they are in it. */
  readonly marks?: Uint8Array | undefined;
  readonly firstMark?: number;
}

function tooMany(): CellFault {
  return new CellFault(`has more than ${MOST_CHUNKS} chunks`, "too-large");
}
