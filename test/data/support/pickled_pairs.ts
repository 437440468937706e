import { readPickle } from "../../../src/codecs/pickle/read_pickle.ts";

/** Unpickles samples as ffrecord's tests do in `process`. */
export default function pickledPairs(
  samples: readonly Uint8Array[],
): [number, number][] {
  return samples.map((bytes) => readPickle(bytes) as [number, number]);
}
