import type { Image } from "../../../codecs/image/image.ts";
import { dtypeOf } from "../../../codecs/numpy/dtype.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";
import type { BatchMemory } from "../../batch_memory.ts";
import { DataError } from "../../data_error.ts";

/** Returns an image as an array: row, column, channel. */
export function arrayOfImage(
  { data, height, width, channels }: Image,
): NdArray {
  return { dtype: "|u1", shape: [height, width, channels], data };
}

export function arrayOfNumbers(data: NumericArray): NdArray {
  return { dtype: dtypeOf(data), shape: [data.length], data };
}

export function stackNumbers(
  samples: readonly number[],
  memory: BatchMemory,
): Float64Array {
  const { buffer, byteOffset } = memory.take(8 * samples.length);
  const batch = new Float64Array(buffer, byteOffset, samples.length);
  batch.set(samples);
  return batch;
}

/** A typed array of numbers or bigints. */
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
 * Stacks arrays of equal shape and type. Messages name them `where`, and `advice` defaults to that for samples.
 *
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

/** Whether arrays of equal type and size already lie one after the other in this memory. */
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

/** Whether two arrays hold texts and have equal shapes. Such arrays stack even if their text lengths differ. */
function areTexts(a: NdArray, b: NdArray): boolean {
  return Array.isArray(a.data) && Array.isArray(b.data) &&
    a.shape.join() === b.shape.join() && a.data.length === b.data.length;
}

/** Returns the dtype that fits the texts of all arrays. */
function longest(arrays: readonly NdArray[]): string {
  const lengthOf = (dtype: string) => Number(dtype.slice(2));
  return arrays.map(({ dtype }) => dtype)
    .reduce((a, b) => lengthOf(b) > lengthOf(a) ? b : a);
}

function nameOf({ dtype, shape }: NdArray): string {
  return `${dtype} of shape (${shape.join(", ")})`;
}

const FOR_SAMPLES =
  "Make them alike in 'process' or a transform, or give the loader a 'collate' of " +
  "yours (false leaves a list)";

export function cannotStack(
  where: string,
  why: string,
  advice: string = FOR_SAMPLES,
): DataError {
  return new DataError(
    "bad-batch",
    `Cannot stack ${where}: they are not alike: ${why}. ${advice}`,
  );
}
