import { readPickle } from "../../../src/codecs/pickle/read_pickle.ts";

/** Samples that were pickled: what ffrecord's tests make in `process`. */
export default function pickledPairs(
  samples: readonly Uint8Array[],
): [number, number][] {
  return samples.map((bytes) => readPickle(bytes) as [number, number]);
}
