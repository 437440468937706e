import {
  elementCount,
  type NdArray,
  NumpyError,
} from "../../codecs/numpy/nd_array.ts";
import { readNpy, readNpyHeader } from "../../codecs/numpy/npy.ts";
import { readPickle } from "../../codecs/pickle/read_pickle.ts";
import { decodeAs } from "../../codecs/values/decode_value.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import { inTask } from "../../io/concurrency/thread.ts";

/** Maximum number of values of a pickle, or texts of an array: each is an object in memory. */
const MOST_OBJECTS = 1 << 20;

/** Decodes a value in bounded memory. Throws if the bytes are invalid. */
export async function decoded(
  bytes: Uint8Array<ArrayBuffer>,
  { decoding }: ValueType,
): Promise<unknown> {
  if (decoding === "npy") return decodedArray(bytes);
  if (decoding === "pickle") return readPickle(bytes, MOST_OBJECTS);
  if (typeof decoding !== "object") return await decodeAs(decoding, bytes);
  const { decodeValue } = await import(decoding.module);
  return await inTask(() => decodeValue(bytes, ...decoding.args));
}

/** {@linkcode readNpy} in bounded memory. Throws `NumpyError` if it is invalid or has too many texts. */
export function decodedArray(bytes: Uint8Array): NdArray {
  const { dtype, shape } = readNpyHeader(bytes);
  if (/^.?U/.test(dtype) && elementCount(shape) > MOST_OBJECTS) {
    throw new NumpyError(
      "unsupported-dtype",
      `the array has ${
        elementCount(shape)
      } texts, and at most ${MOST_OBJECTS} are decoded`,
    );
  }
  return readNpy(bytes);
}
