import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";

/**
 * Result of the default collating, as PyTorch's `default_collate`:
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
  // An object with more fields than an array or an image is collated by field, and loses none.
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
  // A union: the samples of a batch are alike, so one member occurs. Not resolved deeper: JSON is recursive.
  : T extends number ? Float64Array
  : T extends Uint8Array | Uint8ClampedArray ? T[]
  : T extends NdArray | NumericArray | Image ? NdArray
  : T[];
