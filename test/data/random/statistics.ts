/** Test statistics of random data, each in standard deviations. */

/** Upper limit of every figure. All seeds are fixed, so a test passes always or never. */
export const LIMIT = 4;

/**
 * Returns Pearson's chi-square of counts that should be equal, or equal to `expected`, as a number of standard
 * deviations (Wilson and Hilferty's approximation).
 */
export function chiSquare(
  counts: ArrayLike<number>,
  expected?: readonly number[],
): number {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i]!;
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    const wanted = expected?.[i] ?? total / counts.length;
    sum += (counts[i]! - wanted) ** 2 / wanted;
  }
  const freedom = counts.length - 1;
  const variance = 2 / (9 * freedom);
  return (Math.cbrt(sum / freedom) - (1 - variance)) / Math.sqrt(variance);
}

/** Returns the deviation of the samples' mean, in standard deviations. */
export function meanOff(
  samples: readonly number[],
  mean: number,
  variance: number,
): number {
  const found = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  return (found - mean) / Math.sqrt(variance / samples.length);
}

/**
 * Returns chi-square against the Poisson distribution with mean 1, of counts of 0, 1, 2, 3, and 4 or more.
 */
export function poissonOff(samples: readonly number[]): number {
  const counts = new Float64Array(5);
  for (const value of samples) counts[Math.min(value, 4)]! += 1;
  const once = Math.exp(-1);
  const shares = [once, once, once / 2, once / 6];
  shares.push(1 - shares.reduce((sum, share) => sum + share));
  return chiSquare(counts, shares.map((share) => share * samples.length));
}
