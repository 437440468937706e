import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";
import type { BatchMemory } from "../../batch_memory.ts";

/** Options of a collating function. */
export interface CollateOptions {
  /**
   * Memory for the batch, which passes between threads without being copied, and is that of batches that
   * were given back by `recycle`.
   */
  readonly memory: BatchMemory;
}

/**
 * Makes a batch of samples. In a worker thread, what it makes is transferred: it must not keep any of it.
 *
 * @typeParam T What one sample is.
 * @typeParam B What one batch is.
 */
export type Collate<T, B> = (
  samples: readonly T[],
  options: CollateOptions,
) => B | Promise<B>;

/**
 * What the loader makes of samples unless it is told otherwise, as PyTorch's `default_collate`:
 *
 * | samples                                      | batch                                              |
 * | -------------------------------------------- | -------------------------------------------------- |
 * | arrays of one shape and type, typed arrays of one length | one {@linkcode NdArray} with a leading dimension |
 * | images of one size                           | an {@linkcode NdArray} of bytes: sample, row, column, channel |
 * | numbers                                      | a `Float64Array`                                   |
 * | whole numbers, some of them `bigint`         | the list of them, all as `bigint`                  |
 * | objects                                      | an object with the batch of each key               |
 * | lists of one length                          | a list with the batch of each place                |
 * | bytes (`Uint8Array`), strings and all else   | the list of them                                   |
 *
 * @typeParam T What one sample is.
 */
export type Collated<T> = unknown extends T ? unknown
  : [T] extends [
    | Uint8Array
    | Uint8ClampedArray
    | string
    | boolean
    | bigint
    | symbol
    | null
    | undefined
    | Date
    | RegExp
    | Error
    | ArrayBufferLike
    | DataView
    | ReadonlyMap<unknown, unknown>
    | ReadonlySet<unknown>
    | ((...args: never[]) => unknown),
  ] ? T[]
  : [T] extends [NdArray | NumericArray | Image]
  // What has more fields than an array or an image is an object, and loses none of them.
    ? [
      T extends NumericArray ? never
        : T extends NdArray ? Exclude<keyof T, keyof NdArray>
        : Exclude<keyof T, keyof Image>,
    ] extends [never] ? NdArray
    : { [Key in keyof T]: Collated<T[Key]> }
  : [T] extends [number] ? Float64Array
  : [T] extends [readonly unknown[]]
    ? { -readonly [Place in keyof T]: Collated<T[Place]> }
  : [T] extends [object] ? { [Key in keyof T]: Collated<T[Key]> }
  // A union: the samples of a batch are alike, so that one member is met. Not deeper: JSON has no end.
  : T extends number ? Float64Array
  : T extends Uint8Array | Uint8ClampedArray ? T[]
  : T extends NdArray | NumericArray | Image ? NdArray
  : T[];
