import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Entry } from "./catalog.ts";
import { type Hdf5File, Refusal } from "./hdf5_file.ts";
import type { Library } from "./library.ts";

/** Bytes of a decoded block, if elements are stored as they are, and if chunks have to be decoded. */
const PLAIN_BLOCK = 128 << 10;
const CHUNKED_BLOCK = 1 << 20;
/** Largest block that holds whole chunks. */
const MOST_CHUNKS = 32 << 20;
/** Decoded blocks that are cached, in bytes. */
const KEPT = 64 << 20;

/** How the elements of a dataset are divided into blocks: ranges of one dimension, whole in those after it. */
interface Division {
  readonly axis: number;
  /** Bytes of one index of the dimension, its number of indices, and how many a block has. */
  readonly step: number;
  readonly length: number;
  readonly count: number;
}

/** Elements of a file's arrays, decoded in blocks. */
export class ArrayBlocks {
  readonly #file: Hdf5File;
  readonly #blocks = new LruCache<Uint8Array, string>(KEPT);
  readonly #divisions = new Map<Entry, Division>();

  constructor(file: Hdf5File) {
    this.#file = file;
  }

  /** Reads a range of the elements' bytes, in C order. The range must be inside. */
  *read(entry: Entry, offset: number, into: Uint8Array): Steps<void> {
    let division = this.#divisions.get(entry);
    if (division === undefined) {
      division = divide(entry);
      this.#divisions.set(entry, division);
    }
    const { step, length, count } = division;
    for (let done = 0; done < into.length;) {
      const at = Math.floor((offset + done) / step);
      const outer = Math.floor(at / length);
      const first = Math.floor(at % length / count) * count;
      const key = `${entry.path}\0${outer}\0${first}`;
      let block = this.#blocks.get(key);
      if (block === undefined) {
        block = yield* this.#decode(entry, division, outer, first);
        this.#blocks.set(key, block, block.length);
      }
      const from = offset + done - (outer * length + first) * step;
      const part = block.subarray(from, from + into.length - done);
      into.set(part, done);
      done += part.length;
    }
  }

  *#decode(
    { path, space }: Entry,
    { axis, step, length, count: most }: Division,
    outer: number,
    first: number,
  ): Steps<Uint8Array> {
    const offsets = space.map(() => 0n);
    const counts = space.map(BigInt);
    let rest = outer;
    for (let i = axis - 1; i >= 0; i--) {
      offsets[i] = BigInt(rest % space[i]!);
      counts[i] = 1n;
      rest = Math.floor(rest / space[i]!);
    }
    const count = Math.min(most, length - first);
    if (space.length > 0) {
      offsets[axis] = BigInt(first);
      counts[axis] = BigInt(count);
    }
    return yield* this.#file.call(
      path,
      (library, id) =>
        withMemory(library, count * step, (at) => {
          readElements(library, id, path, at, counts, offsets);
          return library.HEAPU8.slice(at, at + count * step);
        }),
    );
  }
}

function divide({ space, item, chunk }: Entry): Division {
  const target = chunk === undefined ? PLAIN_BLOCK : CHUNKED_BLOCK;
  let axis = Math.max(0, space.length - 1);
  let step = item;
  while (axis > 0 && step * space[axis]! <= target) step *= space[axis--]!;
  const length = space[axis] ?? 1;
  let count = Math.max(1, Math.floor(target / step));
  const rows = chunk?.[axis] ?? 1;
  if (rows * step <= MOST_CHUNKS) count = Math.ceil(count / rows) * rows;
  return { axis, step, length, count };
}

/** Calls with memory of the library. */
export function withMemory<T>(
  library: Library,
  size: number,
  act: (at: number) => T,
): T {
  const at = library._malloc(Math.max(1, size));
  if (at === 0) throw new Refusal("it takes too much memory");
  try {
    return act(at);
  } finally {
    library._free(at);
  }
}

/** Reads elements of a dataset to memory of the library: all, or a part. */
export function readElements(
  library: Library,
  id: bigint,
  path: string,
  at: number,
  counts: bigint[],
  offsets: bigint[],
): void {
  const isPart = counts.length > 0;
  const status = library.get_dataset_data(
    id,
    path,
    isPart ? counts : null,
    isPart ? offsets : null,
    isPart ? counts.map(() => 1n) : null,
    BigInt(at),
  );
  if (status < 0) throw new Refusal();
}
