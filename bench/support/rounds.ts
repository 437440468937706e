/** Returns the median; with an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new RangeError("No values to take from");
  return sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2;
}

/**
 * Measures contenders, alternating A B C A B C …, so that a machine that becomes slower or faster affects all of them
 * equally.
 *
 * @returns Measurements of each contender, in the order of the contenders.
 */
export async function alternate<C, M>(
  contenders: readonly C[],
  rounds: number,
  measure: (contender: C, round: number) => Promise<M>,
): Promise<M[][]> {
  const measured: M[][] = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      measured[i]!.push(await measure(contender, round));
    }
  }
  return measured;
}

/**
 * {@linkcode alternate} of the contenders that have everything they need.
 *
 * @returns Measurements of each contender, or `undefined` if something is missing.
 */
export async function alternatePresent<
  C extends { readonly missing?: string | undefined },
  M,
>(
  contenders: readonly C[],
  rounds: number,
  measure: (contender: C, round: number) => Promise<M>,
): Promise<(M[] | undefined)[]> {
  const present = contenders.filter(({ missing }) => missing === undefined);
  const measured = await alternate(present, rounds, measure);
  return contenders.map((one) => measured[present.indexOf(one)]);
}
