import { decodeText, parsePlainJson } from "../../codecs/json/value.ts";
import { readMsgpack } from "../../codecs/msgpack/mod.ts";
import {
  elementCount,
  type NdArray,
  NumpyError,
} from "../../codecs/numpy/nd_array.ts";
import { readNpy, readNpyHeader } from "../../codecs/numpy/npy.ts";
import { readPickle } from "../../codecs/pickle/read_pickle.ts";
import { inTask } from "../../io/concurrency/thread.ts";
import type { ValueDecoding, ValueView } from "../../tree/node_view.ts";

/** How a value is decoded: a function of a format's own is in no other thread. */
export type AnyDecoding = ValueDecoding | OwnDecoding;

type OwnDecoding = (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>;

/** How the value of a view is decoded. */
export function decodingOf(view: ValueView): AnyDecoding {
  return view.decoding ?? ((bytes) => view.decode(bytes));
}

/** Values of a pickle, and texts of an array, that are made: each is an object. */
const MOST_OBJECTS = 1 << 20;

/**
 * Decodes a value.
 *
 * @throws What is wrong with the bytes.
 */
export async function decoded(
  bytes: Uint8Array<ArrayBuffer>,
  decoding: AnyDecoding,
): Promise<unknown> {
  switch (decoding) {
    case "bytes":
      return bytes;
    case "json":
      return parsePlainJson(decodeText(bytes));
    case "msgpack":
      return readMsgpack(bytes);
    case "npy":
      return decodedArray(bytes);
    case "pickle":
      return readPickle(bytes, MOST_OBJECTS);
    case "utf8":
      return decodeText(bytes);
  }
  if (typeof decoding === "function") return await decoding(bytes);
  const { decodeValue } = await import(decoding.module);
  return await inTask(() => decodeValue(bytes, ...decoding.args));
}

/**
 * {@linkcode readNpy} in bounded memory.
 *
 * @throws {NumpyError} If it is no such array, or one of too many texts.
 */
export function decodedArray(bytes: Uint8Array): NdArray {
  const { dtype, shape } = readNpyHeader(bytes);
  if (/^.?U/.test(dtype) && elementCount(shape) > MOST_OBJECTS) {
    throw new NumpyError(
      "unsupported-dtype",
      `the array has ${
        elementCount(shape)
      } texts, and up to ${MOST_OBJECTS} are decoded to be shown`,
    );
  }
  return readNpy(bytes);
}
