import { permutation } from "../../../data/random/permutation.ts";
import { Random } from "../../../data/random/random.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";
import type { VideoId } from "./id_text.ts";

/** Options of {@linkcode GulpChunk.iterAll}. */
export interface IterateOptions {
  /** Only videos with these ids; the order stays that of the chunk. */
  readonly acceptedIds?: Iterable<VideoId> | undefined;
  /** Whether to mix the order. */
  readonly shuffle?: boolean | undefined;
  /** The same seed mixes the same way; another way each time where not given. */
  readonly seed?: number | undefined;
}

/** The videos of a chunk to go through, in order. */
export function videosInOrder(
  meta: ChunkMeta,
  { acceptedIds, shuffle, seed }: IterateOptions,
): number[] {
  const accepted = acceptedIds === undefined
    ? Array.from({ length: meta.length }, (_, video) => video)
    : [...new Set(Array.from(acceptedIds, (id) => meta.find(String(id))))]
      .filter((video) => video >= 0).sort((a, b) => a - b);
  if (shuffle !== true) return accepted;
  return shuffled(accepted, seed ?? Math.floor(Math.random() * 2 ** 32));
}

/**
 * A shuffled copy.
 *
 * @param seed The same seed gives the same order; any number.
 */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = permutation(items.length, new Random(seed >>> 0));
  return items.map((_, i) => items[order.at(i)]!);
}
