/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new RangeError("No values to take from");
  return sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2;
}

/**
 * Measures contenders in turn, A B C A B C …, so that a machine that grows slower or faster
 * meanwhile does so for all of them.
 *
 * @returns Each contender's measurements, in the order of the contenders.
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
 * {@linkcode alternate} of the contenders for which nothing is missing.
 *
 * @returns Each contender's measurements, or `undefined` where something is missing.
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
