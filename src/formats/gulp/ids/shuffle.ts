/**
 * A shuffled copy.
 *
 * @param seed The same seed gives the same order; any number.
 */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items];
  const random = randomOf(seed);
  for (let i = result.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [result[i], result[k]] = [result[k]!, result[i]!];
  }
  return result;
}

/** Numbers from 0 up to 1 by the generator SplitMix32. */
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
