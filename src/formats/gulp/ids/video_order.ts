import type { ChunkMeta } from "../meta/chunk_meta.ts";
import type { VideoId } from "./id_text.ts";

/** Returns the numbers of accepted videos, all by default, in the order of the chunk or shuffled. */
export function videosInOrder(
  meta: ChunkMeta,
  { acceptedIds, shuffle, seed }: {
    readonly acceptedIds?: Iterable<VideoId> | undefined;
    readonly shuffle?: boolean | undefined;
    readonly seed?: number | undefined;
  },
): number[] {
  const accepted = acceptedIds === undefined
    ? Array.from({ length: meta.length }, (_, video) => video)
    : [...new Set(Array.from(acceptedIds, (id) => meta.find(String(id))))]
      .filter((video) => video >= 0).sort((a, b) => a - b);
  if (shuffle !== true) return accepted;
  return shuffled(accepted, seed ?? Math.floor(Math.random() * 2 ** 32));
}

/** Returns a shuffled copy; the same seed, which may be any number, gives the same order. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items];
  const random = randomOf(seed);
  for (let i = result.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [result[i], result[k]] = [result[k]!, result[i]!];
  }
  return result;
}

/** Returns a SplitMix32 generator of numbers from 0 up to 1. */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = state + 0x9e3779b9 | 0;
    let mixed = state ^ state >>> 16;
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ mixed >>> 15) >>> 0) / 2 ** 32;
  };
}
