import type { Image } from "../../../codecs/image/image.ts";
import { dtypeOf } from "../../../codecs/numpy/dtype.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";
import type { BatchMemory } from "../../batch_memory.ts";
import { DataError } from "../../data_error.ts";

/** An image's pixels: row, column, channel. */
export function arrayOfImage(
  { data, height, width, channels }: Image,
): NdArray {
  return { dtype: "|u1", shape: [height, width, channels], data };
}

/** A typed array as an array of one dimension. */
export function arrayOfNumbers(data: NumericArray): NdArray {
  return { dtype: dtypeOf(data), shape: [data.length], data };
}

/** One number of each sample. */
export function stackNumbers(
  samples: readonly number[],
  memory: BatchMemory,
): Float64Array {
  const { buffer, byteOffset } = memory.take(8 * samples.length);
  const batch = new Float64Array(buffer, byteOffset, samples.length);
  batch.set(samples);
  return batch;
}

/** A typed array, of numbers or big ones. */
interface Elements {
  readonly length: number;
  readonly BYTES_PER_ELEMENT: number;
  set(from: Elements, at: number): void;
}

type ElementsClass = new (
  buffer: ArrayBuffer,
  offset: number,
  length: number,
) => Elements;

/**
 * Arrays of one shape and type, one after the other.
 *
 * @param where What they are, for the message.
 * @param advice What to do where they differ; unless given, for the samples of a batch.
 * @throws {DataError} With code `bad-batch` if they differ.
 */
export function stackArrays(
  arrays: readonly NdArray[],
  memory: Pick<BatchMemory, "take" | "buffers">,
  where: string,
  advice?: string,
): NdArray {
  const [first] = arrays as [NdArray];
  arrays.forEach((array, i) => {
    const isAlike = array.dtype === first.dtype &&
      array.shape.join() === first.shape.join() &&
      array.data.length === first.data.length &&
      array.data.constructor === first.data.constructor;
    if (isAlike || areTexts(array, first)) return;
    throw cannotStack(
      where,
      `the first is ${nameOf(first)} and number ${i} is ${nameOf(array)}`,
      advice,
    );
  });
  const shape = [arrays.length, ...first.shape];
  if (Array.isArray(first.data)) {
    const data = arrays.flatMap((array) => array.data as string[]);
    return { dtype: longest(arrays), shape, data };
  }
  const { length, byteLength } = first.data;
  const areStacked = areRows(arrays, memory);
  const { buffer, byteOffset } = areStacked
    ? first.data
    : memory.take(arrays.length * byteLength);
  const Data = first.data.constructor as unknown as ElementsClass;
  const data = new Data(
    buffer as ArrayBuffer,
    byteOffset,
    arrays.length * length,
  );
  if (!areStacked) {
    arrays.forEach((array, i) =>
      data.set(array.data as unknown as Elements, i * length)
    );
  }
  return { dtype: first.dtype, shape, data: data as unknown as NumericArray };
}

/** Tells whether arrays, which are alike, lie one behind the other in this memory. */
function areRows(
  arrays: readonly NdArray[],
  { buffers }: Pick<BatchMemory, "buffers">,
): boolean {
  const rows = arrays.map(({ data }) => data as NumericArray);
  const [{ buffer, byteOffset, byteLength }] = rows as [NumericArray];
  return buffers.includes(buffer as ArrayBuffer) &&
    rows.every((row, i) =>
      row.buffer === buffer && row.byteOffset === byteOffset + i * byteLength
    );
}

/** Texts of other lengths than another array's go together nonetheless. */
function areTexts(a: NdArray, b: NdArray): boolean {
  return Array.isArray(a.data) && Array.isArray(b.data) &&
    a.shape.join() === b.shape.join() && a.data.length === b.data.length;
}

/** The type that holds the texts of all. */
function longest(arrays: readonly NdArray[]): string {
  const lengthOf = (dtype: string) => Number(dtype.slice(2));
  return arrays.map(({ dtype }) => dtype)
    .reduce((a, b) => lengthOf(b) > lengthOf(a) ? b : a);
}

function nameOf({ dtype, shape }: NdArray): string {
  return `${dtype} of shape (${shape.join(", ")})`;
}

const FOR_SAMPLES =
  "make them alike in 'process' or a transform, or give the loader a 'collate' of yours (false leaves a list)";

/** Says why samples cannot be made a batch, and what to do about it. */
export function cannotStack(
  where: string,
  why: string,
  advice: string = FOR_SAMPLES,
): DataError {
  return new DataError(
    "bad-batch",
    `${where} are not alike: ${why}; ${advice}`,
  );
}
