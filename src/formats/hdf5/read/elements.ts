import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { fill, readPart } from "../../../io/read/read_part.ts";
import { product } from "../values/types.ts";
import { type Chunk, type Chunks, ChunkTable, gridOf } from "./chunk_table.ts";
import { bytesOf, type Dataset, isUnallocated } from "./dataset.ts";
import { unfilter } from "./filters.ts";
import { GlobalHeaps } from "./heaps.ts";
import { Metadata } from "./metadata.ts";

/** Bytes of decoded chunks, and of indexes of chunks, that are cached. */
const MOST_CHUNKS = 64 << 20;
const MOST_TABLES = 64 << 20;

/** Bytes of an index without chunks. */
const ENTRY = 200;
/** Indexes of chunks, and decoded chunks by dataset and number, of all files of this thread. */
const TABLES = new LruCache<ChunkTable, Dataset>(MOST_TABLES);
const CHUNKS = new LruCache<Uint8Array, string>(MOST_CHUNKS);
const divisions = new WeakMap<Dataset, Division>();
let datasets = 0;

/** How a dataset is divided: chunks are whole in the dimensions after one, so that a range of it is one of bytes. */
interface Division {
  /** Number of the dataset in this thread. */
  readonly number: number;
  readonly axis: number;
  /** Bytes of one index of the dimension. */
  readonly step: number;
  readonly grid: readonly number[];
}

/** Reads the elements of a file's datasets, as they are stored. */
export class Elements {
  readonly metadata: Metadata;
  readonly heaps: GlobalHeaps;

  constructor(metadata: Metadata) {
    this.metadata = metadata;
    this.heaps = new GlobalHeaps(metadata);
  }

  /**
   * Reads a range of the bytes of all elements, in C order. The range must be inside.
   *
   * @throws {CellFault} If it is damaged.
   */
  *read(dataset: Dataset, offset: number, into: Uint8Array): Steps<void> {
    const { layout } = dataset;
    if (into.length === 0) return;
    if (isUnallocated(dataset)) return fillUp(dataset, offset, into);
    if (layout.is === "virtual") throw new CellFault("is a virtual dataset");
    if (layout.is === "range") {
      const { base, source } = this.metadata;
      yield* fill(source, into, base + layout.address + offset);
      return;
    }
    const { axis, step, grid } = divisionOf(dataset);
    const table = yield* this.#table(dataset);
    const { shape } = dataset;
    const chunk = layout.shape;
    const length = shape![axis] ?? 1;
    const most = chunk[axis] ?? 1;
    for (let done = 0; done < into.length;) {
      const at = offset + done;
      const index = Math.floor(at / step);
      const inner = index % length;
      // From the innermost dimension out: number of the chunk, and index in it.
      let number = Math.floor(inner / most);
      let scale = grid[axis] ?? 1;
      let place = inner % most;
      let stride = most;
      let rest = Math.floor(index / length);
      for (let i = axis - 1; i >= 0; i--) {
        const own = rest % shape![i]!;
        rest = Math.floor(rest / shape![i]!);
        number += Math.floor(own / chunk[i]!) * scale;
        place += own % chunk[i]! * stride;
        scale *= grid[i]!;
        stride *= chunk[i]!;
      }
      const within = at % step;
      const here = Math.min(most - inner % most, length - inner);
      const count = Math.min(into.length - done, here * step - within);
      const stored = table.at(number);
      const part = into.subarray(done, done + count);
      if (stored === undefined) fillUp(dataset, at, part);
      else {
        const bytes = yield* this.#chunk(dataset, layout, number, stored);
        const from = place * step + within;
        part.set(bytes.subarray(from, from + count));
      }
      done += count;
    }
  }

  /** Hints that a range will be read soon. Returns the bytes that are being fetched. */
  prefetch(dataset: Dataset, offset: number, length: number): number {
    const { layout } = dataset;
    const { base, source } = this.metadata;
    if (source.prefetch === undefined || isUnallocated(dataset)) return 0;
    if (layout.is === "range") {
      const start = base + layout.address + offset;
      return source.prefetch(start, length) ? length : 0;
    }
    const table = TABLES.get(dataset);
    if (layout.is !== "chunks" || table === undefined) return 0;
    const { axis, step, grid } = divisionOf(dataset);
    if (axis > 0) return 0;
    let bytes = 0;
    const rows = layout.shape[0]! * step;
    const each = product(grid.slice(1));
    const past = Math.ceil((offset + length) / rows) * each;
    for (let i = Math.floor(offset / rows) * each; i < past; i++) {
      const chunk = table.at(i);
      if (chunk === undefined) continue;
      const start = base + chunk.address;
      if (source.prefetch(start, chunk.length)) bytes += chunk.length;
    }
    return bytes;
  }

  *#chunk(
    dataset: Dataset,
    layout: Chunks,
    number: number,
    { address, length, mask }: Chunk,
  ): Steps<Uint8Array> {
    const key = `${divisionOf(dataset).number} ${number}`;
    const known = CHUNKS.get(key);
    if (known !== undefined) return known;
    const { base, source, size } = this.metadata;
    if (!(address >= 0 && address + length <= size)) {
      throw new CellFault("has a chunk outside of the file");
    }
    const isPlain = layout.areEdgesPlain && isEdge(dataset, number);
    const stored = yield* readPart(source, base + address, length);
    const whole = product(layout.shape) * dataset.type.size;
    const filters = isPlain ? [] : layout.filters;
    const bytes = yield* unfilter(stored, filters, whole, mask);
    CHUNKS.set(key, bytes, bytes.length);
    return bytes;
  }

  *#table(dataset: Dataset): Steps<ChunkTable> {
    const known = TABLES.get(dataset);
    if (known !== undefined) return known;
    this.metadata.renew();
    const table = yield* ChunkTable.read(this.metadata, dataset);
    TABLES.set(dataset, table, ENTRY + table.byteLength);
    return table;
  }
}

/** Fills a range of elements' bytes with the fill value. */
function fillUp(
  { fill, type: { size } }: Dataset,
  offset: number,
  into: Uint8Array,
): void {
  if (fill === undefined) into.fill(0);
  for (let i = 0; fill !== undefined && i < into.length; i++) {
    into[i] = fill[(offset + i) % size]!;
  }
}

/** Reads all elements, as they are stored. */
export function* readAll(
  elements: Elements,
  dataset: Dataset,
): Steps<Uint8Array> {
  const bytes = new Uint8Array(bytesOf(dataset));
  yield* elements.read(dataset, 0, bytes);
  return bytes;
}

/** Whether a chunk leads out of the shape. */
function isEdge(dataset: Dataset, number: number): boolean {
  const { shape, layout } = dataset;
  const { grid } = divisionOf(dataset);
  const chunk = layout.is === "chunks" ? layout.shape : [];
  let rest = number;
  for (let i = grid.length - 1; i >= 0; i--) {
    const at = rest % grid[i]!;
    if ((at + 1) * chunk[i]! > shape![i]!) return true;
    rest = Math.floor(rest / grid[i]!);
  }
  return false;
}

function divisionOf(dataset: Dataset): Division {
  const known = divisions.get(dataset);
  if (known !== undefined) return known;
  const { layout, type } = dataset;
  const shape = dataset.shape!;
  const chunk = layout.is === "chunks" ? layout.shape : shape;
  let axis = Math.max(0, shape.length - 1);
  while (axis > 0 && chunk[axis] === shape[axis]) axis--;
  const step = product(shape.slice(axis + 1)) * type.size;
  const number = datasets++;
  const division = { number, axis, step, grid: gridOf(shape, chunk) };
  divisions.set(dataset, division);
  return division;
}
