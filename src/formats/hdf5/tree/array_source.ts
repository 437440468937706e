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
import { PiecedFile } from "../../../tree/archive/pieced_file.ts";
import type { Entry } from "../read/catalog.ts";
import { bytesOf, isUnallocated } from "../read/dataset.ts";
import type { Hdf5File } from "../read/hdf5_file.ts";
import { type NumpyType, toNumpy } from "../values/types.ts";

/** Makes the `.npy` file of a dataset: of a range of the file, if its elements are stored as NumPy has them. */
export function arraySource(file: Hdf5File, entry: Entry): ByteSource {
  const dataset = entry.dataset!;
  const { layout } = dataset;
  const isPlain = layout.is === "range" && !isUnallocated(dataset) &&
    unitOf(entry.numpy!) === 1;
  if (!isPlain) return new ArraySource(file, entry);
  const head = headOf(entry);
  const length = bytesOf(dataset);
  return new PiecedFile(file.source, () => entry.path, head.length + length, {
    offsets: Float64Array.of(head.length),
    lengths: Float64Array.of(length),
    places: Float64Array.of(file.form.base + layout.address),
  }, head);
}

/** A dataset as an `.npy` file, whose elements are decoded when they are read. */
class ArraySource implements MadeSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly storedIn: string;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly #file: Hdf5File;
  readonly #entry: Entry;
  readonly #head: Uint8Array;

  constructor(file: Hdf5File, entry: Entry) {
    const { name, mtime, readAtSync } = file.source;
    this.name = `${name}: '${entry.path}'`;
    this.storedIn = name;
    this.mtime = mtime;
    this.#file = file;
    this.#entry = entry;
    this.#head = headOf(entry);
    this.size = sizeOf(entry);
    // Its presence shows callers whether the data is remote.
    if (readAtSync !== undefined) {
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
    const { path } = this.#entry;
    yield* this.#file.guarded(path, this.#elements(rest, start));
    return wanted.length;
  }

  *#elements(into: Uint8Array, start: number): Steps<void> {
    const { dataset, numpy } = this.#entry;
    const { elements } = this.#file;
    const unit = unitOf(numpy!);
    if (unit === 1) return yield* elements.read(dataset!, start, into);
    const first = Math.floor(start / unit) * unit;
    const past = Math.ceil((start + into.length) / unit) * unit;
    const whole = new Uint8Array(past - first);
    yield* elements.read(dataset!, first, whole);
    toNumpy(numpy!, whole);
    into.set(whole.subarray(start - first, start - first + into.length));
  }
}

/** Bytes that are converted together. */
function unitOf({ dtype, swapped, bits }: NumpyType): number {
  return bits === undefined ? swapped : Number(dtype.slice(2));
}

/** Returns the bytes of an array's file. */
export function sizeOf(entry: Entry): number {
  return headOf(entry).length + bytesOf(entry.dataset!);
}

function headOf({ dataset, numpy }: Entry): Uint8Array {
  const { dtype, shape } = numpy!;
  return npyHeader(dtype, [...dataset!.shape!, ...shape]);
}
