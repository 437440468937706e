/**
 * Returns all indices below `count` in a random order that is always the same, in batches of equal size. Drops a
 * smaller last batch.
 */
export function batchesOf(count: number, batch: number): number[][] {
  const order = Array.from({ length: count }, (_, i) => i);
  let state = 1;
  for (let i = count - 1; i > 0; i--) { // Fisher-Yates
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const other = Math.floor(state / 2 ** 32 * (i + 1));
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return Array.from(
    { length: Math.floor(count / batch) },
    (_, i) => order.slice(i * batch, (i + 1) * batch),
  );
}
